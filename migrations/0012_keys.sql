-- Roots are found by their keys, so that applying a plan costs what the plan says.

CREATE INDEX roots_by_key ON issues(plan_key) WHERE plan_key IS NOT NULL AND parent IS NULL;
