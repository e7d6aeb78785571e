// The commands for breakdowns: results by attributes of people, across the company.
import { type Breakdown, selectBreakdowns } from '../rounds/segments/breakdowns.sql.ts';
import { inTransaction } from '../db/db.ts';
import { deleteGroupResults } from '../results/published-figures.ts';
import { type SimulatedBreakdown, simulateBreakdown } from '../results/segments/simulate.ts';
import { simulateOpening } from '../results/segments/simulated-account.ts';
import {
  closeBreakdown,
  type NewBreakdown,
  openBreakdown,
  removeBreakdown,
} from '../rounds/segments/breakdowns.ts';
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
const breakdown = { ...account, name: text, attribute: text, bands: text, combine: text };
const one = { ...account, id: text };
const wanted =
  '--account ID --name N (--attribute A [--bands 30,40,50,60] | --combine BREAKDOWN_ID,BREAKDOWN_ID)\n';

function breakdownOf(values: OptionValues): NewBreakdown {
  const numbers = (option: string) =>
    values[option] === undefined
      ? null
      : commaList(String(values[option])).map((part) => wholeNumber(part, option));
  return {
    name: required(values, 'name'),
    attribute: values['attribute'] === undefined ? null : String(values['attribute']),
    bands: numbers('bands'),
    crossOf: numbers('combine') as NewBreakdown['crossOf'],
  };
}

export const breakdownCommands: Record<string, Command> = {
  'breakdown list': {
    isLogged: false,
    usage:
      '--account ID\n    Lists the breakdowns by which results are shown, in the order in which they were opened.',
    options: account,
    run: (pool, values) => selectBreakdowns(pool, accountOf(values)),
    format: (breakdowns: Breakdown[]) =>
      breakdowns.length === 0
        ? 'No breakdowns. Results are shown by group only.'
        : table([
            ['id', 'name', 'by', 'segments', 'opened', 'closed'],
            ...breakdowns.map((each) => [
              String(each.id),
              each.name,
              sourceOf(each, breakdowns),
              String(each.segments),
              minuteText(each.openedAt),
              minuteText(each.closedAt),
            ]),
          ]),
  },
  'breakdown simulate': {
    isLogged: false,
    usage:
      wanted +
      '    Shows how many segments of a breakdown would be shown if it were opened now, with the current people, groups and\n' +
      '    attributes, and the response rates of past weeks. Doesn’t change anything.',
    options: breakdown,
    run: (pool, values) =>
      simulateOpening(pool, accountOf(values), breakdownOf(values), Date.now(), simulateBreakdown),
    format: simulationText,
  },
  'breakdown open': {
    usage:
      wanted +
      '    From the next week that opens, also shows results by segment: by the values of an attribute, by bands of years (if\n' +
      '    the attribute contains dates), or by a combination of two open breakdowns. Try "breakdown simulate" first.',
    options: breakdown,
    run: async (pool, values) => ({
      id: await inTransaction(pool, (tx) => openBreakdown(tx, accountOf(values), actor, breakdownOf(values))),
    }),
    format: ({ id }: { id: number }) =>
      `Breakdown ${id} opened. It applies to weeks that open from now on. The answering page and the privacy report say so.`,
  },
  'breakdown close': {
    usage:
      '--account ID --id BREAKDOWN_ID\n    Weeks that open later have no segments of this breakdown. Existing figures stay.',
    options: one,
    run: async (pool, values) => {
      const id = numberOf(values, 'id');
      await inTransaction(pool, (tx) => closeBreakdown(tx, accountOf(values), actor, id));
      return { id };
    },
    format: ({ id }: { id: number }) => `Breakdown ${id} closed. Its existing figures are kept.`,
  },
  'breakdown remove': {
    usage:
      '--account ID --id BREAKDOWN_ID\n    Removes a breakdown with all its figures. This can’t be undone.',
    options: one,
    run: async (pool, values) => {
      const id = numberOf(values, 'id');
      await inTransaction(pool, (tx) =>
        removeBreakdown(tx, accountOf(values), actor, id, deleteGroupResults),
      );
      return { id };
    },
    format: ({ id }: { id: number }) => `Breakdown ${id} removed, with all its figures.`,
  },
};

const sourceOf = ({ attribute, bands, crossOf }: Breakdown, breakdowns: Breakdown[]): string => {
  if (attribute !== null) return bands ? `${attribute} (years: ${bands.join(', ')})` : attribute;
  return (crossOf ?? [])
    .map((id) => breakdowns.find((other) => other.id === id)?.name ?? String(id))
    .join(' and ');
};

const percent = (share: number | null) => (share === null ? '–' : `${Math.round(share * 100)}%`);

function simulationText(found: SimulatedBreakdown): string {
  return [
    `${found.withValue} of ${found.people} active people have a value. There are ${found.values} values, of which ${found.segments} have enough people to become segments.`,
    `Segments with at least 15 people: ${found.large}. Their figures would be shown in ${percent(found.largeShown)} of cases.`,
    `All segments: figures shown in ${percent(found.shown)} of cases, based on ${percent(found.answers)} of the answers from people in segments.`,
    questionsText(found),
    "Results by group and by breakdowns that are already open don't change.",
  ].join('\n');
}

function questionsText({ asked: { withMean, distributions }, distributionFrom }: SimulatedBreakdown): string {
  return distributions > 0
    ? `This is for the questions of recent weeks: ${withMean} with a mean, and ${distributions} yes/no or choice questions, which need at least ${distributionFrom} answers for each figure.`
    : `This is for questions with a mean. Recent weeks asked no yes/no or choice questions, which need at least ${distributionFrom} answers for each figure.`;
}
