// The KPIs of the account, each with its questions.
import type { KpiView } from '@soundings/contract/console/asking.ts';
import { Gauge, Pencil, Plus } from 'lucide-react';
import { useState } from 'react';
import { useData } from '../../../hooks/data.ts';
import { useText } from '../../../text/text.tsx';
import { Badge } from '../../../ui/Badge.tsx';
import { Button } from '../../../ui/Button.tsx';
import { Empty } from '../../../ui/page/Empty.tsx';
import { Page } from '../../../ui/page/Page.tsx';
import { Section } from '../../../ui/page/Section.tsx';
import { Loaded } from '../../../ui/page/States.tsx';
import css from '../asking.module.css';
import { KpiDialog } from './KpiDialog.tsx';
import { QuestionList } from './QuestionList.tsx';
import { useKpiName } from '../texts.ts';

export function KpisPage() {
  const t = useText();
  const response = useData('GET /library/kpis');
  const [edited, setEdited] = useState<KpiView | 'new'>();
  return (
    <Page
      title={t('asking.kpis')}
      subtitle={t('asking.kpisText')}
      actions={
        <Button kind="primary" icon={Plus} onClick={() => setEdited('new')}>
          {t('asking.newKpi')}
        </Button>
      }
    >
      <Loaded response={response}>
        {({ kpis }) =>
          kpis.length === 0 ? (
            <Empty icon={Gauge} title={t('asking.noKpis')} text={t('asking.kpisText')} />
          ) : (
            kpis.map((kpi) => <KpiSection key={kpi.id} kpi={kpi} onEdit={() => setEdited(kpi)} />)
          )
        }
      </Loaded>
      {edited && (
        <KpiDialog kpi={edited === 'new' ? undefined : edited} onClose={() => setEdited(undefined)} />
      )}
    </Page>
  );
}

function KpiSection({ kpi, onEdit }: { kpi: KpiView; onEdit: () => void }) {
  const t = useText();
  const name = useKpiName()(kpi);
  const { id, hasValues, questions, schedules, imageUrl } = kpi;
  return (
    <Section
      title={name}
      description={
        <span className={css['inline']}>
          <code>{id}</code>
          {hasValues ? (
            <Badge tone="good" dot>
              {t('asking.hasValues')}
            </Badge>
          ) : (
            <Badge dot>{t('asking.noValues')}</Badge>
          )}
          {imageUrl && <Badge>{t('asking.hasImage')}</Badge>}
          {schedules.length > 0 && (
            <span className={css['small']}>
              {t('asking.askedBy', { names: schedules.map((one) => one.name).join(', ') })}
            </span>
          )}
        </span>
      }
      actions={
        <Button icon={Pencil} onClick={onEdit} aria-label={t('asking.editKpi', { name })}>
          {t('asking.edit')}
        </Button>
      }
    >
      <QuestionList questions={questions} />
    </Section>
  );
}
