-- Who is to answer an ask, by when, how often they are reminded, and what is chosen should nobody answer:
-- `model::duty::Duty`.

ALTER TABLE asks ADD COLUMN duty TEXT CHECK (json_valid(duty));
