-- Who paused an issue, when and why, while it is paused: `model::issue::Pause`. What may not start below
-- it follows from that, and is kept in `standing` and `frontier`.

ALTER TABLE issues ADD COLUMN paused TEXT CHECK (json_valid(paused));
