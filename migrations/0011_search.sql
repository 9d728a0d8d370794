-- Searching for words, and listing page by page.
--
-- `search` has the words of titles and bodies, each with its place, and no texts: those are in `issues`,
-- by `seq`. Nothing is ranked, so it need not know how long texts are.

CREATE VIRTUAL TABLE search USING fts5(title, body, content='issues', content_rowid='seq', columnsize=0, tokenize='unicode61 remove_diacritics 2');

INSERT INTO search(search) VALUES ('rebuild');

CREATE INDEX issues_by_rank ON issues(priority, created_at, id);
