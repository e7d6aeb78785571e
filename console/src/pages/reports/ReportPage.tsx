// A report of a group: one A4 page to print, or to save as PDF. The texts come from the service, so that the page and the PDF say
// the same.
import { periodOfWeek, quarterOfWeek } from '@soundings/contract/periods.ts';
import type { ResultsStart } from '@soundings/contract/console/results/results.ts';
import { Download, EyeOff, FolderDown, Printer, Waves } from 'lucide-react';
import { addressOf } from '../../api.ts';
import { useAddress, useData } from '../../hooks/data.ts';
import { useLanguage, useText } from '../../text/text.tsx';
import { Button, LinkButton } from '../../ui/Button.tsx';
import { GroupCombobox } from '../../ui/form/group-combobox/GroupCombobox.tsx';
import { Select } from '../../ui/form/Select.tsx';
import { Empty } from '../../ui/page/Empty.tsx';
import { Page } from '../../ui/page/Page.tsx';
import { Loaded } from '../../ui/page/States.tsx';
import { ReportSheet } from './ReportSheet.tsx';

export function ReportPage() {
  const t = useText();
  const language = useLanguage();
  const start = useData('GET /results', { query: { language } });
  if (start.data?.group && start.data.weeks.length > 0)
    return <OneReport start={{ ...start.data, group: start.data.group }} />;
  return (
    <Page title={t('reports.title')}>
      <Loaded response={start}>
        {() => <Empty icon={Waves} title={t('reports.none')} text={t('reports.noneText')} />}
      </Loaded>
    </Page>
  );
}

type Start = ResultsStart & { group: NonNullable<ResultsStart['group']> };

const comparisons = ['company', 'parent', 'halfYear', 'none'] as const;
type Comparison = (typeof comparisons)[number];

function OneReport({ start }: { start: Start }) {
  const t = useText();
  const language = useLanguage();
  const [{ group = String(start.group.id), period, compare }, setAddress] = useAddress<
    'group' | 'period' | 'compare'
  >();
  const periods = usePeriods(start);
  const chosen = periods.some(({ value }) => value === period) ? (period as string) : periods[0]!.value;
  const request = { params: { groupId: group }, query: { period: chosen, compare, language } };
  const report = useData('GET /results/groups/{groupId}/report', request as never);
  const isGone = report.error?.status === 404;
  return (
    <Page
      title={t('reports.title')}
      waits={!report.data && !isGone}
      actions={!isGone && <Actions request={request} />}
      toolbar={
        <>
          {start.groups > 1 && (
            <GroupCombobox
              filter
              label={t('reports.group')}
              value={Number(group)}
              onChange={(id) => setAddress({ group: id === undefined ? undefined : String(id) })}
            />
          )}
          <Select
            label={t('reports.period')}
            value={chosen}
            onChange={(value) => setAddress({ period: value })}
            options={periods}
          />
          <Compare
            available={report.data?.comparison.available}
            value={report.data?.comparison.kind}
            onChange={(value) => setAddress({ compare: value })}
          />
          {start.groups > 1 && (
            <LinkButton
              href={addressOf('GET /results/reports.zip', { query: request.query })}
              download
              icon={FolderDown}
            >
              {t('reports.all', { count: start.groups })}
            </LinkButton>
          )}
        </>
      }
    >
      {isGone ? (
        <Empty icon={EyeOff} title={t('reports.gone')} text={t('reports.goneText')} />
      ) : (
        <Loaded response={report}>{(read) => <ReportSheet report={read} />}</Loaded>
      )}
    </Page>
  );
}

/** The buttons that save the report as PDF and print it. `request`: the parameters of the report. */
function Actions({ request }: { request: { params: object; query: object } }) {
  const t = useText();
  return (
    <>
      <LinkButton
        href={addressOf('GET /results/groups/{groupId}/report.pdf', request)}
        download
        icon={Download}
      >
        {t('reports.pdf')}
      </LinkButton>
      <Button kind="primary" icon={Printer} onClick={() => print()}>
        {t('reports.print')}
      </Button>
    </>
  );
}

function Compare({
  available,
  value,
  onChange,
}: {
  available: readonly Comparison[] | undefined;
  value: Comparison | undefined;
  onChange: (value: Comparison) => void;
}) {
  const t = useText();
  if (value === undefined || available === undefined || available.length < 2) return null;
  const options = available.map((one) => ({ value: one, label: t(`compare.${one}`) }));
  return <Select label={t('reports.compare')} value={value} onChange={onChange} options={options} />;
}

/** Returns the weeks with results and their quarters, newest first; a quarter is before its weeks. */
function usePeriods({ weeks }: ResultsStart): { value: string; label: string }[] {
  const t = useText();
  const listed = weeks.map(({ week, year, number }) => ({
    quarter: quarterOfWeek(week).name,
    week: {
      value: periodOfWeek(week).name,
      label: t('reports.week', { number: String(number), year: String(year) }),
    },
  }));
  const quarters = [...new Set(listed.map(({ quarter }) => quarter))];
  const [newest, ...others] = listed.map(({ week }) => week);
  return [
    ...(newest ? [newest] : []),
    ...quarters.map((value) => ({
      value,
      label: t('reports.quarter', { quarter: value.slice(-1), year: value.slice(0, 4) }),
    })),
    ...others,
  ];
}
