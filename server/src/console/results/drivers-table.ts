// Key drivers as CSV: a row for each KPI, with shares in percent. Pure.
import type { Drivers } from '@soundings/contract/console/results/drivers.ts';
import { weekName } from '@soundings/contract/weeks.ts';
import { byteOrderMark, type CsvCell, csvRow } from '../../base/csv.ts';
import { catalogue } from '../../base/texts.ts';
import type { Arguments } from './text/arguments.ts';
import en from './text/en/drivers.json' with { type: 'json' };
import sv from './text/sv/drivers.json' with { type: 'json' };

/** The words of the table. */
export const driverTexts = catalogue<typeof en, Arguments['drivers']>({ en, sv });
type Texts = ReturnType<typeof driverTexts.in>;

const percent = (share: number) => Math.round(share * 1000) / 10;

/**
 * Returns the text of the file. Each row repeats the outcome, groups and weeks that were compared, so that the rows of several
 * files can be combined.
 */
export function driverTable(
  { outcome, groups, weeks, drivers, leftOut, handedOut }: Drivers,
  t: Texts,
): string {
  const about = (name: string): CsvCell[] => [outcome?.name ?? null, name];
  const [first, last] = [weeks[0], weeks.at(-1)];
  const basis: CsvCell[] = [
    groups,
    weeks.length,
    first ? weekName(first.week) : null,
    last ? weekName(last.week) : null,
    handedOut ? t('yes') : null,
  ];
  const rows: CsvCell[][] = [
    [
      t('outcome'),
      t('kpi'),
      t('share'),
      t('low'),
      t('high'),
      t('clear'),
      t('correlation'),
      t('leftOut'),
      t('groups'),
      t('weeks'),
      t('firstWeek'),
      t('lastWeek'),
      t('handedOut'),
    ],
    ...drivers.map(({ name, weight, low, high, isClear, correlation }): CsvCell[] => [
      ...about(name),
      percent(weight),
      percent(low),
      percent(high),
      isClear ? t('yes') : t('no'),
      Math.round(correlation * 100) / 100,
      null,
      ...basis,
    ]),
    ...leftOut.map(({ name, reason }): CsvCell[] => [
      ...about(name),
      ...Array<CsvCell>(5).fill(null),
      t(`reason.${reason}`),
      ...basis,
    ]),
  ];
  return byteOrderMark + rows.map(csvRow).join('');
}
