// The templates of schedules: what each asks, how often, and a button that creates it.
import type { Templates, TemplateView } from '@soundings/contract/console/start.ts';
import { useNavigate } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { api } from '../../../api.ts';
import { useAction } from '../../../hooks/action.ts';
import { useData, useRefresh } from '../../../hooks/data.ts';
import { useText } from '../../../text/text.tsx';
import { useState } from 'react';
import { Button, LinkButton } from '../../../ui/Button.tsx';
import { SelectField } from '../../../ui/form/Select.tsx';
import { Notice } from '../../../ui/page/Notice.tsx';
import { Page } from '../../../ui/page/Page.tsx';
import { Padded, Section } from '../../../ui/page/Section.tsx';
import { Failed, Loaded, Skeleton } from '../../../ui/page/States.tsx';
import { useToast } from '../../../ui/floating/Toast.tsx';
import { useDays, useKpiName, useQuestionText, useRepetition } from '../texts.ts';
import css from './templates.module.css';

export function TemplatesPage() {
  const t = useText();
  const response = useData('GET /templates');
  return (
    <Page
      title={t('templates.title')}
      subtitle={t('templates.text')}
      crumbs={[{ label: t('asking.schedules'), to: '/schedules' }]}
      actions={<LinkButton to="/schedules/new">{t('templates.own')}</LinkButton>}
    >
      <Loaded response={response} skeleton={<Skeleton rows={8} />}>
        {(data) => (
          <>
            {data.groups.length === 0 && (
              <Padded>
                <Notice tone="warn" actions={<LinkButton to="/groups">{t('templates.toGroups')}</LinkButton>}>
                  {t('templates.noGroups')}
                </Notice>
              </Padded>
            )}
            {data.templates.map((template) => (
              <Template key={template.id} template={template} data={data} />
            ))}
          </>
        )}
      </Loaded>
    </Page>
  );
}

function Template({ template, data }: { template: TemplateView; data: Templates }) {
  const t = useText();
  const days = useDays();
  const repetition = useRepetition();
  const questionText = useQuestionText();
  const kpiName = useKpiName();
  const toast = useToast();
  const refresh = useRefresh();
  const navigate = useNavigate();
  const { busy, error, run } = useAction();
  const [attribute, setAttribute] = useState('');
  const create = async () => {
    const { scheduleId } = await api('POST /templates/{templateId}', {
      params: { templateId: template.id },
      body: template.byDate ? { attribute } : {},
    });
    void refresh('GET /schedules', 'GET /library', 'GET /start', 'GET /templates');
    await navigate({ to: `/schedules/${scheduleId}` });
    toast({ text: t('templates.created', { name: template.name }) });
  };
  const { questions, kpis, perWeek, everyWeeks, byDate } = template;
  return (
    <Section
      title={t(`templates.${template.id}`)}
      description={t(`templates.${template.id}Text`)}
      actions={
        <Button
          kind="primary"
          icon={Plus}
          busy={busy}
          disabled={data.groups.length === 0 || (template.byDate !== null && attribute === '')}
          onClick={() => run(create)}
        >
          {t('asking.createSchedule')}
        </Button>
      }
    >
      <div className={css['template']}>
        {error !== undefined && <Failed error={error} />}
        <p className={css['facts']}>
          {repetition({ ...template, repeat: 'weeks' })}
          {' · '}
          {t('templates.from', { day: days.day(template.from) })}
          {' · '}
          {byDate
            ? t('templates.byDate', { minimum: byDate.minPeople })
            : t('asking.people', { count: data.people })}
        </p>
        {byDate && <DateAttribute value={attribute} onChange={setAttribute} data={data} />}
        {perWeek !== null && (
          <p>
            {t('templates.choice', { count: perWeek, weeks: everyWeeks ?? 0 })} {kpis.map(kpiName).join(', ')}
          </p>
        )}
        {questions.length > 0 && (
          <ol className={css['questions']}>
            {questions.map((question) => (
              <li key={question.key}>{questionText(question)}</li>
            ))}
          </ol>
        )}
      </div>
    </Section>
  );
}

type DateAttributeProps = { value: string; onChange: (name: string) => void; data: Templates };

/** The attribute that contains the date by which the template chooses people. Those with dates come first. */
function DateAttribute({ value, onChange, data: { attributes } }: DateAttributeProps) {
  const t = useText();
  if (attributes.length === 0)
    return (
      <Notice actions={<LinkButton to="/attributes">{t('templates.toAttributes')}</LinkButton>}>
        {t('templates.noAttributes')}
      </Notice>
    );
  return (
    <SelectField
      name="attribute"
      label={t('templates.attribute')}
      value={value}
      onChange={onChange}
      options={[
        { value: '', label: t('asking.chooseAttribute') },
        ...attributes
          .toSorted((a, b) => b.dates - a.dates)
          .map(({ name, dates }) => ({ value: name, label: t('templates.dates', { name, count: dates }) })),
      ]}
    />
  );
}
