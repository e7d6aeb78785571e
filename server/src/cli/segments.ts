// The commands for segments: results by attributes of people, across the company.
import { type SegmentKind, selectKinds } from '../rounds/segments/segments.sql.ts';
import { inTransaction } from '../db/db.ts';
import { deleteGroupResults } from '../results/published-figures.ts';
import { type SimulatedKind, simulateKind } from '../results/segments/simulate.ts';
import { simulateOpening } from '../results/segments/simulated-account.ts';
import { closeKind, type NewKind, openKind, removeKind } from '../rounds/segments/segments.ts';
import {
  account,
  accountOf,
  type Command,
  commaList,
  minuteText,
  numberOf,
  required,
  table,
  text,
  type OptionValues,
  wholeNumber,
} from './options.ts';

const actor = { origin: 'command' } as const;
const kind = { ...account, name: text, attribute: text, bands: text, combine: text };
const one = { ...account, id: text };
const wanted = '--account ID --name N (--attribute A [--bands 30,40,50,60] | --combine KIND_ID,KIND_ID)\n';

function kindOf(values: OptionValues): NewKind {
  const numbers = (option: string) =>
    values[option] === undefined
      ? null
      : commaList(String(values[option])).map((part) => wholeNumber(part, option));
  return {
    name: required(values, 'name'),
    attribute: values['attribute'] === undefined ? null : String(values['attribute']),
    bands: numbers('bands'),
    crossOf: numbers('combine') as NewKind['crossOf'],
  };
}

export const segmentCommands: Record<string, Command> = {
  'segments list': {
    isLogged: false,
    usage:
      '--account ID\n    Lists the kinds of segments by which results are shown, in the order in which they were opened.',
    options: account,
    run: (pool, values) => selectKinds(pool, accountOf(values)),
    format: (kinds: SegmentKind[]) =>
      kinds.length === 0
        ? 'Results are not shown by segments.'
        : table([
            ['id', 'name', 'by', 'segments', 'opened', 'closed'],
            ...kinds.map((each) => [
              String(each.id),
              each.name,
              sourceOf(each, kinds),
              String(each.segments),
              minuteText(each.openedAt),
              minuteText(each.closedAt),
            ]),
          ]),
  },
  'segments simulate': {
    isLogged: false,
    usage:
      wanted +
      '    Shows how many segments of a kind would be shown if it were opened now, with the current people, groups and\n' +
      '    attributes, and the response rates of past weeks. Doesn’t change anything.',
    options: kind,
    run: (pool, values) => simulateOpening(pool, accountOf(values), kindOf(values), Date.now(), simulateKind),
    format: simulationText,
  },
  'segments open': {
    usage:
      wanted +
      '    From the next week that opens, also shows results by segment: by the values of an attribute, by bands of years (if\n' +
      '    the attribute contains dates), or by a combination of two open kinds. Try "segments simulate" first.',
    options: kind,
    run: async (pool, values) => ({
      id: await inTransaction(pool, (tx) => openKind(tx, accountOf(values), actor, kindOf(values))),
    }),
    format: ({ id }: { id: number }) =>
      `Segments ${id} opened. They apply to weeks that open from now on. The answering page and the privacy report say so.`,
  },
  'segments close': {
    usage:
      '--account ID --id KIND_ID\n    Weeks that open later have no segments of this kind. Existing figures stay.',
    options: one,
    run: async (pool, values) => {
      const id = numberOf(values, 'id');
      await inTransaction(pool, (tx) => closeKind(tx, accountOf(values), actor, id));
      return { id };
    },
    format: ({ id }: { id: number }) => `Segments ${id} closed. Their existing figures are kept.`,
  },
  'segments remove': {
    usage:
      '--account ID --id KIND_ID\n    Removes a kind of segments with all its figures. This can’t be undone.',
    options: one,
    run: async (pool, values) => {
      const id = numberOf(values, 'id');
      await inTransaction(pool, (tx) => removeKind(tx, accountOf(values), actor, id, deleteGroupResults));
      return { id };
    },
    format: ({ id }: { id: number }) => `Segments ${id} removed, with all their figures.`,
  },
};

const sourceOf = ({ attribute, bands, crossOf }: SegmentKind, kinds: SegmentKind[]): string => {
  if (attribute !== null) return bands ? `${attribute} (years: ${bands.join(', ')})` : attribute;
  return (crossOf ?? [])
    .map((id) => kinds.find((other) => other.id === id)?.name ?? String(id))
    .join(' and ');
};

const percent = (share: number | null) => (share === null ? '–' : `${Math.round(share * 100)}%`);

function simulationText(found: SimulatedKind): string {
  return [
    `${found.withValue} of ${found.people} active people have a value. There are ${found.values} values, of which ${found.segments} have enough people to become segments.`,
    `Segments with at least 15 people: ${found.large}. Their figures would be shown in ${percent(found.largeShown)} of cases.`,
    `All segments: figures shown in ${percent(found.shown)} of cases, based on ${percent(found.answers)} of the answers from people in segments.`,
    "Results by group and by kinds that are already open don't change.",
  ].join('\n');
}
