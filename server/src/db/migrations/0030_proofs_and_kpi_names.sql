-- Dangerous actions in the console require the password again. Existing sessions count as not having given it recently.
alter table sessions add column proved_at timestamptz;
alter table sessions alter column proved_at set default now();
comment on column sessions.proved_at is
  'When its person last gave the password in it: at the beginning, and again before a dangerous act. Null: before this was noted.';

-- The name of a KPI in other languages. KPIs of the library get their translated names, unless the account has renamed them.
alter table kpis add column translations jsonb not null default '{}';
comment on column kpis.name is 'What the data interface calls it.';
comment on column kpis.translations is 'Language to name: what people who read that language are shown.';
update kpis k
set    translations = jsonb_build_object('sv', l.sv, 'de', l.de)
from   (values ('workload',    'Workload and recovery',    'Arbetsbelastning och återhämtning', 'Arbeitsbelastung und Erholung'),
               ('clarity',     'Role clarity',             'Tydlig roll',                       'Klare Rolle'),
               ('autonomy',    'Autonomy',                 'Handlingsutrymme',                  'Handlungsspielraum'),
               ('leadership',  'Leadership and feedback',  'Ledarskap och återkoppling',        'Führung und Rückmeldung'),
               ('development', 'Learning and development', 'Lärande och utveckling',            'Lernen und Entwicklung'),
               ('community',   'Team and support',         'Team och stöd',                     'Team und Unterstützung'),
               ('fairness',    'Fairness and voice',       'Rättvisa och delaktighet',          'Fairness und Mitsprache'),
               ('engagement',  'Meaning and engagement',   'Mening och engagemang',             'Sinn und Engagement'))
       as l(id, en, sv, de)
where  k.kpi_id = l.id and k.name = l.en;
