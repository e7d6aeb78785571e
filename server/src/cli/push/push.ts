// `soundings push`: pushes people and groups from a file to a service over HTTPS. It needs no database, only a token. It shows the plan of a
// dry run, and applies this plan and no other.
import type { SoundingsError } from '@soundings/client/soundings-error.ts';
import type { PushResult } from '@soundings/client/organization.ts';
import type { Plan, PushProgress, PushSettings } from '@soundings/client/plans.ts';
import { limitNames } from '@soundings/contract/limits.ts';
import { readFile } from 'node:fs/promises';
import { Fault } from '../../base/errors.ts';
import {
  type Command,
  flag,
  list,
  listOf,
  numberOf,
  type OptionValues,
  required,
  text,
  UsageError,
} from '../options.ts';
import type { PushedFile } from './push-file.ts';
import { optionOf, placedText, planText, type ShownPlan, terminalSafe } from './push-text.ts';

/** What the command gets from its process. */
export type PushSurroundings = {
  /** The token in the environment, if any. */
  token: () => string | undefined;
  /** Asks the person at the terminal. Undefined if there is none. Returns the answer. */
  ask: ((question: string) => Promise<string>) | undefined;
  /** Shows the progress of the command. Undefined if there is no terminal. */
  progress: ((line: string) => void) | undefined;
};

type Outcome = PushResult['outcome'] | 'planned';
type Pushed = { outcome: Outcome; runId?: string | undefined; current?: Plan } & ShownPlan;

/** Whether the plan was printed with a question, so that it isn't printed again. */
const asked = new WeakSet<Pushed>();

const limitOptions = Object.fromEntries(limitNames.map((setting) => [optionOf(setting).slice(2), text]));

export const pushCommands = (surroundings: PushSurroundings): Record<string, Command> => ({
  push: {
    usage:
      'FILE --url https://soundings.example.com [--token-file F] [--dry-run] [--yes] [--show N]\n' +
      '    [--max-users-created N] [--max-users-updated N] [--max-users-deleted N] [--max-groups-created N] [--max-groups-updated N]\n' +
      '    [--max-groups-deleted N] [--attribute NAME] [--country SE] [--force-set-language] [--allow-http]\n' +
      '    Makes the users and groups of a service match a file (docs/integrators/client.md): JSON as in the organization\n' +
      '    interface, or CSV, XLS or XLSX with the usual columns. The lists are complete: managed users and groups that are not in\n' +
      '    them are removed. Works on any machine. The token is in SOUNDINGS_TOKEN or in the file F. Shows the plan and asks before\n' +
      '    it is applied; --yes applies it without asking, --dry-run never applies it. The exit status is 0 if it was applied or there\n' +
      '    was nothing to do, 2 if it was not applied (limits, not approved, or other changes in between), and 1 after errors or\n' +
      '    if it may have been applied.',
    options: {
      ...limitOptions,
      url: text,
      'token-file': text,
      'dry-run': flag,
      yes: flag,
      show: text,
      attribute: list,
      country: text,
      'force-set-language': flag,
      'allow-http': flag,
    },
    positional: 'FILE',
    usageStatus: 1,
    runAlone: (values) => push(values, surroundings),
    format: resultText,
    isFailure: ({ outcome }: Pushed) => outcome === 'uncertain',
    statusOf: ({ outcome, plan }: Pushed) =>
      outcome === 'applied' || outcome === 'unchanged' || (outcome === 'planned' && plan.limits.length === 0)
        ? 0
        : 2,
  },
});

async function push(values: OptionValues, { token, ask, progress }: PushSurroundings): Promise<Pushed> {
  const isDryRun = values['dry-run'] === true;
  if (!isDryRun && values['yes'] !== true && ask === undefined)
    throw new UsageError(
      'There is no terminal to ask at. Add --yes to apply the plan, or --dry-run to see it.',
    );
  const shown = values['show'] === undefined ? 20 : numberOf(values, 'show');
  // Imported here, because every other command would load them too.
  const [{ Soundings }, { readPushedFile }] = await Promise.all([
    import('@soundings/client/soundings.ts'),
    import('./push-file.ts'),
  ]);
  const options = {
    url: required(values, 'url'),
    token: await tokenOf(values, token),
    allowHttp: values['allow-http'] === true,
  };
  const client = withUsage(() => new Soundings(options));
  const country = countryOf(values);
  const file = await readPushedFile(required(values, 'FILE'), {
    attributes: listOf(values, 'attribute'),
    country,
  });
  const settings = { ...file.settings, ...settingsOf(values) };
  const onProgress = (done: PushProgress) => progress?.(progressText(done));
  const how = { settings, onProgress };
  try {
    if (isDryRun) {
      const plan = await client.organization.plan(file.list, how);
      return { outcome: 'planned', ...(await shownPlan(file, plan, shown)) };
    }
    let isAsked = false;
    const approve = async (plan: Plan) => {
      if (values['yes'] === true) return true;
      isAsked = true;
      const answer = await ask?.(`${planText(await shownPlan(file, plan, shown))}\nApply? [y/N] `);
      return /^\s*y(es)?\s*$/i.test(answer ?? '');
    };
    const result = await client.organization.push(file.list, { approve, ...how });
    const pushed: Pushed = { ...result, ...(await shownPlan(file, result.plan, shown)) };
    if (isAsked) asked.add(pushed);
    return pushed;
  } catch (error) {
    throw faultOf(error, file);
  }
}

/** Returns what is shown of a plan: with the places in the file, and with what it has for the people who are listed as added. */
async function shownPlan(file: PushedFile, plan: Plan, shown: number): Promise<ShownPlan> {
  const added = plan.changes.filter(({ entity, action }) => entity === 'user' && action === 'create');
  const wanted = new Set(added.slice(0, shown).map(({ externalId }) => externalId));
  const access = new Map<string, ReturnType<ShownPlan['accessOf']>>();
  if (wanted.size > 0)
    for await (const { externalId, accessInfo } of file.list.users ?? [])
      if (wanted.has(externalId)) access.set(externalId, accessInfo);
  return {
    plan: { ...plan, warnings: plan.warnings.map((one) => placedIn(file, one)) },
    warnings: file.warnings,
    shown,
    accessOf: (id) => access.get(id),
  };
}

/** Returns how far a push in parts is. */
function progressText(done: PushProgress): string {
  if (done.step === 'checking') return 'All parts are sent. The service is comparing them with its data.';
  if (done.step === 'applying') return 'The service is applying the plan.';
  const count = (one: number, what: string) =>
    one === 0 ? [] : [`${one.toLocaleString('en')} ${what}${one === 1 ? '' : 's'}`];
  return `Sent ${[...count(done.groups, 'group'), ...count(done.users, 'user')].join(' and ')}.`;
}

/** Returns the token of the file or the environment. It is never an option: all users of the machine see those of a process. */
async function tokenOf(values: OptionValues, token: () => string | undefined): Promise<string> {
  const path = values['token-file'];
  const found =
    typeof path === 'string'
      ? await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
          throw new UsageError(`The token file ${path} can't be read (${error.code}).`);
        })
      : token();
  if (!found?.trim())
    throw new UsageError(
      'A token is required: set SOUNDINGS_TOKEN, or --token-file to a file that contains it.',
    );
  return found.trim();
}

function countryOf(values: OptionValues): string | null {
  const country = values['country'];
  if (country === undefined) return null;
  if (typeof country === 'string' && /^[A-Z]{2}$/.test(country)) return country;
  throw new UsageError('--country must be a country code of two capital letters, such as SE.');
}

const settingsOf = (values: OptionValues): PushSettings => ({
  ...Object.fromEntries(
    limitNames
      .map((setting) => [setting, optionOf(setting).slice(2)] as const)
      .filter(([, option]) => values[option] !== undefined)
      .map(([setting, option]) => [setting, numberOf(values, option)]),
  ),
  ...(values['force-set-language'] === true && { forceSetLanguage: true }),
});

/** Returns the result of a function whose TypeErrors are those of options. */
function withUsage<T>(create: () => T): T {
  try {
    return create();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new UsageError(error.message.replace('The url', '--url'));
  }
}

/** Returns an error or warning with its place in the spreadsheet. */
function placedIn<T extends { message: string; path?: string }>({ placeOf }: PushedFile, found: T): T {
  const place = found.path === undefined ? undefined : placeOf(found.path);
  return place === undefined ? found : { ...found, ...place };
}

const mayBeApplied =
  'The plan may have been applied all the same: the response to an attempt was lost. Run the command again with --dry-run to see what is left ' +
  'to change, or look for the run on the Runs page of the console.';

/** Returns the Fault for an error of the client: what is wrong, then each error with its place, and whether the plan may have been applied. */
function faultOf(error: unknown, file: PushedFile): unknown {
  const {
    name,
    type,
    title,
    errors = [],
    mayBeApplied: isUncertain = false,
  } = error as Partial<Pick<SoundingsError, 'name' | 'type' | 'title' | 'errors' | 'mayBeApplied'>>;
  if (name !== 'SoundingsError' || title === undefined) return error;
  const placed = errors.map((one) => ({
    type: one.type,
    message: terminalSafe(placedText(placedIn(file, one))),
  }));
  const [first] = placed;
  const isListed = placed.length > 1 || (first !== undefined && !title.endsWith(first.message));
  const note = isUncertain ? [{ type: 'unavailable', message: mayBeApplied }] : [];
  const listed = isListed ? placed : [];
  // The command prints the message, and then the details after the first.
  const details =
    listed.length + note.length > 0 ? [{ type: type ?? '', message: title }, ...listed, ...note] : [];
  return new Fault('invalid', type as Fault['code'], title, { details, cause: error });
}

function resultText(pushed: Pushed): string {
  const { outcome, plan, runId, current } = pushed;
  const applied = runId === undefined ? 'Applied.' : `Applied. Run: ${runId}`;
  const endings: Record<Outcome, string> = {
    planned:
      plan.changes.length === 0 ? 'Nothing to do.' : 'Nothing was applied, because this was a dry run.',
    applied,
    unchanged: 'Nothing to do.',
    declined: 'Not applied.',
    'over limits': 'Not applied, because the plan exceeds a limit.',
    uncertain:
      'It may have been applied: the response was lost, and the data has changed since. Run the command again to see what it would do now.',
    'plan changed':
      'Not applied, because the data has changed since the plan. Run the command again to see what it would do now' +
      (current && current.changes.length === 0 ? ': the lists match already.' : '.'),
  };
  return asked.has(pushed) ? endings[outcome] : `${planText(pushed)}\n${endings[outcome]}`;
}
