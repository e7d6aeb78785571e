-- The questions of each KPI are stored with the week when its figures are published. Before, rolling values of closed weeks followed every
-- later change of a KPI. For weeks that are already published, they are what they were shown with until now.
alter table weeks add column kpi_questions json;
update weeks w
set    kpi_questions = (select coalesce(json_object_agg(k.kpi_id, array(select q.question_id
                                                                       from   kpi_questions q
                                                                       where  q.account_id = k.account_id
                                                                         and  q.kpi_id = k.kpi_id
                                                                       order  by q.question_id)), '{}')
                        from   kpis k
                        where  k.account_id = w.account_id)
where  closed_at is not null or shown_at is not null;
comment on column weeks.kpi_questions is
  'The ids of the questions of each KPI when the figures of the week were published: {kpi: [question]}. Null: nothing is published.';
