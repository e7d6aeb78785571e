-- A four-point scale without a neutral middle (question type 8).
alter table questions drop constraint questions_type_check;
alter table questions add constraint questions_type_check check (type between 1 and 8);
comment on table kpi_questions is 'The questions of each KPI, of types 1 to 4 and 8.';
