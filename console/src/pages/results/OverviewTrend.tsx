// The trend of up to six KPIs, chosen by their names above the chart.
import type { GroupResults } from '@soundings/contract/console/results.ts';
import { useAddress } from '../../hooks/data.ts';
import { useText } from '../../text/text.tsx';
import { useWeekText } from '../../text/weeks.ts';
import { Legend, LegendButton } from '../../ui/charts/Legend.tsx';
import { Line } from '../../ui/charts/Line.tsx';
import { Section } from '../../ui/page/Section.tsx';
import { pointsOn } from './figures.ts';
import { HandedOutNote } from './parts.tsx';
import { useHandedOutNotes, usePointText } from './texts.ts';

const most = 6;

export type ChosenKpis = {
  /** Returns the colour number of a KPI; undefined: it is not chosen. */
  colourOf: (kpiId: string) => number | undefined;
  isFull: boolean;
  toggle: (kpiId: string) => void;
};

/** Returns the KPIs in the URL, three by default. A KPI keeps its colour when others are added or removed. */
export function useChosenKpis(kpis: GroupResults['kpis']): ChosenKpis {
  const [{ kpis: text }, setAddress] = useAddress<'kpis'>();
  const known = new Set(kpis.map(({ id }) => id));
  // Keeps free places as empty ones, so that the colours of the others stay.
  const concurrency =
    text === undefined
      ? kpis.slice(0, 3).map(({ id }) => id)
      : text
          .split(',')
          .slice(0, most)
          .map(decoded)
          .map((id) => (known.has(id) ? id : ''));
  const write = (next: string[]) => setAddress({ kpis: next.map(encodeURIComponent).join() || ',' });
  return {
    colourOf(id) {
      const slot = concurrency.indexOf(id);
      return slot < 0 ? undefined : slot + 1;
    },
    isFull: concurrency.filter(Boolean).length >= most,
    toggle(id) {
      const slot = concurrency.indexOf(id);
      if (slot >= 0) return write(concurrency.with(slot, ''));
      const free = concurrency.indexOf('');
      return write(free >= 0 ? concurrency.with(free, id) : [...concurrency, id].slice(0, most));
    },
  };
}

/** Returns nothing for a value that no page writes. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}

export function OverviewTrend({ results, chosen }: { results: GroupResults; chosen: ChosenKpis }) {
  const t = useText();
  const { axis } = useWeekText();
  const textOf = usePointText();
  const notesOn = useHandedOutNotes();
  const { weeks, kpis } = results;
  const series = kpis.flatMap(({ id, name, values }) => {
    const colour = chosen.colourOf(id);
    return colour === undefined
      ? []
      : [{ key: id, name, colour, points: pointsOn(weeks, values), notes: notesOn(weeks, values) }];
  });
  return (
    <Section
      title={t('results.trend')}
      actions={
        <Legend>
          {kpis.map(({ id, name }) => (
            <LegendButton
              key={id}
              name={name}
              colour={chosen.colourOf(id)}
              isOn={chosen.colourOf(id) !== undefined}
              disabled={chosen.isFull && chosen.colourOf(id) === undefined}
              onToggle={() => chosen.toggle(id)}
            />
          ))}
        </Legend>
      }
    >
      <Line
        label={t('results.trendByWeek')}
        weeks={axis(weeks)}
        series={series}
        textOf={textOf}
        height={280}
      />
      {series.some(({ notes }) => notes.some(Boolean)) && <HandedOutNote />}
    </Section>
  );
}
