-- Finds the figures of a few weeks in all groups without reading those of all weeks: closing a week writes its figures one after another, so each
-- block of the table has few weeks. The index has some bytes for each 128 blocks. Figures that were written in another order are found, too,
-- but by reading more of them.
create index results_by_week on results using brin (week, account_id) with (autosummarize = on);
