// Key drivers: which KPIs go along with an outcome over groups, and why that doesn't show a cause.
import type { Drivers, KpiDriver } from '@soundings/contract/console/results/drivers.ts';
import type { ResultGroup, ResultWeek } from '@soundings/contract/console/results/results.ts';
import { addWeeks } from '@soundings/contract/weeks.ts';
import { useAddress, useData } from '../../hooks/data.ts';
import { useFormat, useLanguage, useText } from '../../text/text.tsx';
import { useWeekText } from '../../text/weeks.ts';
import { Intervals } from '../../ui/charts/Intervals.tsx';
import { Select } from '../../ui/form/Select.tsx';
import { Empty } from '../../ui/page/Empty.tsx';
import { Page, ToolbarGap } from '../../ui/page/Page.tsx';
import { Section } from '../../ui/page/Section.tsx';
import { Loaded } from '../../ui/page/States.tsx';
import { CsvLink } from './CsvLink.tsx';
import { Started } from './Started.tsx';
import { spans, useSpanOptions } from './url-choices.ts';
import css from './results.module.css';

export function DriversPage() {
  const t = useText();
  return <Started title={t('nav.drivers')}>{({ weeks }) => <Chosen all={weeks} />}</Started>;
}

const usualSpan = '13';

/** Whether a longer choice of weeks has a week with results that this one doesn't. `all`: the weeks with results or under way. */
function hasMore(all: readonly ResultWeek[], span: string): boolean {
  const final = all.filter(({ state }) => state === 'final').map(({ week }) => week);
  const last = final.toSorted().at(-1);
  if (last === undefined) return false;
  const first = addWeeks(last, 1 - Number(span));
  const earliest = addWeeks(last, 1 - Number(spans.at(-1)));
  return final.some((week) => week < first && week >= earliest);
}

function Chosen({ all }: { all: readonly ResultWeek[] }) {
  const t = useText();
  const language = useLanguage();
  const [address, setAddress] = useAddress<'outcome' | 'weeks'>();
  const weeks = (spans as readonly string[]).includes(address.weeks ?? '') ? address.weeks : usualSpan;
  const query = { outcome: address.outcome, weeks, language };
  const drivers = useData('GET /results/drivers', { query } as never);
  const spanOptions = useSpanOptions();
  const outcomes = drivers.data?.outcomes ?? [];
  return (
    <Page
      title={t('nav.drivers')}
      waits={!drivers.data}
      subtitle={t('drivers.text')}
      actions={<CsvLink name="GET /results/drivers/csv" query={query} />}
      toolbar={
        drivers.data ? (
          <>
            {outcomes.length > 0 && (
              <Select
                label={t('drivers.outcome')}
                value={drivers.data.outcome?.id ?? ''}
                onChange={(outcome) => setAddress({ outcome })}
                options={outcomes.map(({ id, kind, name }) => ({
                  value: id,
                  label: name,
                  hint: kind === 'question' ? t('drivers.question') : undefined,
                }))}
              />
            )}
            <Select
              label={t('results.span')}
              hideLabel
              value={weeks as string}
              onChange={(value) => setAddress({ weeks: value })}
              options={spanOptions}
            />
          </>
        ) : (
          <ToolbarGap />
        )
      }
    >
      <Loaded response={drivers}>
        {(read) => <Content drivers={read} hasMoreWeeks={hasMore(all, weeks as string)} />}
      </Loaded>
    </Page>
  );
}

/** What may help if no other KPI has figures. */
function noKpisText(hasMoreWeeks: boolean, hasOtherOutcomes: boolean) {
  if (hasMoreWeeks) return hasOtherOutcomes ? 'drivers.noKpisText' : 'drivers.noneText';
  return hasOtherOutcomes ? 'drivers.noKpisOutcomeText' : 'drivers.noKpisYetText';
}

/** `hasMoreWeeks`: whether choosing more weeks may help. */
function Content({ drivers, hasMoreWeeks }: { drivers: Drivers; hasMoreWeeks: boolean }) {
  const t = useText();
  const { percent } = useFormat();
  const { outcome, state, groups, minimumGroups, weeks, tree, leftOut } = drivers;
  if (!outcome)
    return (
      <Empty title={t('drivers.none')} text={t(hasMoreWeeks ? 'drivers.noneText' : 'drivers.noneYetText')} />
    );
  // The text of a question would run into the sentence.
  const name = outcome.kind === 'question' ? t('drivers.quoted', { text: outcome.name }) : outcome.name;
  if (state === 'few') {
    const text = t('drivers.fewText', { count: groups, minimum: minimumGroups });
    return <Empty title={t('drivers.few')} text={text} />;
  }
  if (state === 'same') return <Empty title={t('drivers.same')} text={t('drivers.sameText')} />;
  return (
    <>
      {state === 'noKpis' ? (
        <Empty title={t('drivers.noKpis')} text={t(noKpisText(hasMoreWeeks, drivers.outcomes.length > 1))} />
      ) : (
        <Section
          title={t('drivers.goesAlong', { name })}
          description={<Basis groups={groups} weeks={weeks} tree={tree} />}
        >
          <p className={css['prose']}>
            {t('drivers.explained', {
              share: percent(drivers.explained ?? 0),
              name,
              file: 'docs/administrators/drivers.md',
            })}
          </p>
          <Bars drivers={drivers.drivers} />
          {drivers.handedOut && <p className={css['soft']}>{t('drivers.handedOut')}</p>}
        </Section>
      )}
      {state === 'computed' && <Limits name={name} />}
      {leftOut.length > 0 && (
        <Section title={t('drivers.leftOut')}>
          <ul className={css['marks']}>
            {leftOut.map(({ id, name: kpi, reason }) => (
              <li key={id}>
                <span>
                  {kpi}: <span className={css['soft']}>{t(`drivers.reason.${reason}`)}</span>
                </span>
              </li>
            ))}
          </ul>
        </Section>
      )}
    </>
  );
}

/** The groups and the weeks that are compared. */
function Basis({ groups, weeks, tree }: { groups: number; weeks: ResultWeek[]; tree: ResultGroup | null }) {
  const t = useText();
  const { short } = useWeekText();
  const first = weeks[0];
  const last = weeks.at(-1);
  if (!first || !last) return null;
  const about = { groups, weeks: weeks.length, first: short(first), last: short(last) };
  return tree ? t('drivers.basisOf', { ...about, tree: tree.name }) : t('drivers.basis', about);
}

function Bars({ drivers }: { drivers: readonly KpiDriver[] }) {
  const t = useText();
  const { percent } = useFormat();
  const hintOf = ({ isClear, correlation }: KpiDriver) => {
    if (!isClear) return t('drivers.unclear');
    return correlation < 0 ? t('drivers.reverse') : undefined;
  };
  return (
    <Intervals
      label={t('drivers.share')}
      headings={[t('drivers.kpi'), t('drivers.share'), t('drivers.interval')]}
      rows={drivers.map((driver) => ({
        key: driver.id,
        label: driver.name,
        hint: hintOf(driver),
        value: driver.weight,
        low: driver.low,
        high: driver.high,
        range: t('drivers.range', { low: percent(driver.low), high: percent(driver.high) }),
        isPale: !driver.isClear,
      }))}
    />
  );
}

function Limits({ name }: { name: string }) {
  const t = useText();
  return (
    <Section title={t('drivers.limits')}>
      <ul className={css['limits']}>
        <li>{t('drivers.limitCause', { name })}</li>
        <li>{t('drivers.limitPeople')}</li>
        <li>{t('drivers.limitSamePeople')}</li>
        <li>{t('drivers.limitOthers')}</li>
      </ul>
    </Section>
  );
}
