-- What a plan said of its root and of each goal when it was last applied: a digest by key.
--
-- A goal of which the plan says the same again is left as it is now, also where somebody has changed it
-- by hand. Of a plan that an older program applied nothing is known: its goals are compared with the
-- issues, once.

ALTER TABLE plans ADD COLUMN said TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(said));
