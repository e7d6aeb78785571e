// What groups work on: creates and changes it, and keeps its history. The caller checks who may do so, and writes the audit log.
import type { FocusEventKind, FocusState, FocusTerms } from '@soundings/contract/console/focus.ts';
import {
  maxFocusAction,
  maxFocusEvents,
  maxFocusesOfGroup,
  maxFocusNote,
  maxFocusResponsible,
  maxOpenFocuses,
} from '@soundings/contract/limits.ts';
import type { Detail } from '@soundings/contract/problem.ts';
import { addWeeks, isDay, weekOf } from '@soundings/contract/weeks.ts';
import { Fault, faultAtField } from '../base/errors.ts';
import { dayFault, type FieldFault, lengthFault, nameFault } from '../base/field-faults.ts';
import type { AccountId, Transaction } from '../db/db.ts';
import { groupNotFound } from '../people/faults.ts';
import { type FocusChange, isAnnounced, stateAfter } from './focus-states.ts';
import {
  countFocusEvents,
  type FocusRow,
  insertFocus,
  insertFocusEvent,
  lockFocus,
  lockGroup,
  selectFocusNumbers,
  selectIsSubject,
  updateFocus,
} from './focus.sql.ts';

/** Who does something, when (ms since 1970), and the day that it then is in the account's time zone. */
export type FocusActor = { accountId: AccountId; userId: number; now: number; today: string };

export type NewFocus = FocusTerms & { groupId: number; kind: 'kpi' | 'question'; subject: string };

/**
 * Creates a focus of a group and returns its id. Throws a Fault if the group already has two open focuses, or an open one
 * on this subject.
 */
export async function createFocus(
  tx: Transaction,
  actor: FocusActor,
  { groupId, kind, subject, ...given }: NewFocus,
): Promise<number> {
  const { accountId, userId, now } = actor;
  const terms = termsOf(given, actor.today);
  const about = {
    kpiId: kind === 'kpi' ? subject : null,
    questionId: kind === 'question' ? idOf(subject) : null,
  };
  if (!(await lockGroup(tx, accountId, groupId))) throw groupNotFound();
  if (!(await selectIsSubject(tx, accountId, about))) throw subjectNotFound(kind);
  await refuseMore(tx, accountId, { groupId, ...about });
  const id = await insertFocus(tx, accountId, { groupId, ...about, ...terms }, now);
  await insertFocusEvent(tx, accountId, { focusId: id, kind: 'created', userId, note: '', terms }, now);
  return id;
}

/** What changes: the terms, the check-in, or the state, with a note. */
export type WantedChange = { change: FocusChange; note?: string; terms?: FocusTerms };

/**
 * Changes a focus and returns it as it was before. Throws a Fault if that is not possible in its state. `check`: throws if the caller
 * may not change the focus of the group; it is called with the group locked.
 */
export async function applyToFocus(
  tx: Transaction,
  actor: FocusActor,
  focusId: number,
  { change, note = '', terms }: WantedChange,
  check: (groupId: number) => Promise<void>,
): Promise<FocusRow> {
  const { accountId, userId, now, today } = actor;
  const before = await lockFocus(tx, accountId, focusId);
  if (!before) throw focusNotFound();
  await check(before.groupId);
  const state = stateAfter(before.state, change);
  if (state === undefined) throw wrongState(before.state);
  const tooLong = lengthFault('note', note, maxFocusNote);
  if (tooLong) throw faultAtField('invalid', tooLong.type, '/note', tooLong.message);
  if ((await countFocusEvents(tx, accountId, focusId)) >= maxFocusEvents && state === 'open')
    throw tooMany('This focus has too many entries. Finish or stop it, and create a new one.');
  if (change === 'reopened') await refuseMore(tx, accountId, before);
  const next = terms ? termsOf(terms, today, before.until) : termsIn(before);
  if (change === 'changed' && isSame(next, termsIn(before))) return before;
  const outlook =
    change === 'onTrack' || change === 'needsHelp' ? change : change === 'reopened' ? null : before.outlook;
  const checked = ['onTrack', 'needsHelp', 'done', 'reopened'].includes(change);
  await updateFocus(
    tx,
    accountId,
    { ...before, ...next, state, outlook },
    { checked, announced: isAnnounced(change), now },
  );
  const event = { focusId, kind: change as FocusEventKind, userId, note: oneLine(note) };
  await insertFocusEvent(tx, accountId, { ...event, terms: change === 'changed' ? next : null }, now);
  return before;
}

/** Returns only the terms of a focus. */
export const termsIn = ({ action, responsible, until }: FocusTerms): FocusTerms => ({
  action,
  responsible,
  until,
});
const isSame = (a: FocusTerms, b: FocusTerms) => JSON.stringify(a) === JSON.stringify(b);
const idOf = (text: string) => (/^[1-9]\d{0,8}$/.test(text) ? Number(text) : 0);
const oneLine = (text: string) => text.replaceAll(/[\s\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();

/** Returns terms as single lines. Throws a Fault that lists what is wrong. `before`: a day that may stay although it has passed. */
function termsOf({ action, responsible, until }: FocusTerms, today: string, before?: string): FocusTerms {
  const terms = { action: oneLine(action), responsible: oneLine(responsible), until };
  const faults: [string, FieldFault | undefined][] = [
    ['action', nameFault('action', terms.action, maxFocusAction)],
    ['responsible', nameFault('responsible', terms.responsible, maxFocusResponsible)],
    ['until', untilFault(until, today, before)],
  ];
  const details: Detail[] = faults.flatMap(([name, fault]) =>
    fault ? [{ ...fault, path: `/${name}` }] : [],
  );
  if (details[0]) throw new Fault('invalid', 'invalid value', details[0].message, { details });
  return terms;
}

function untilFault(until: string, today: string, before: string | undefined): FieldFault | undefined {
  if (!isDay(until)) return dayFault(until);
  if (until === before) return undefined;
  const last = addWeeks(weekOf(today), 104);
  if (until >= today && until <= last) return undefined;
  return { type: 'invalid value', message: `Choose a day from ${today} to ${last}.` };
}

async function refuseMore(
  tx: Transaction,
  accountId: AccountId,
  about: Pick<FocusRow, 'groupId' | 'kpiId' | 'questionId'>,
): Promise<void> {
  const { open, all, same } = await selectFocusNumbers(tx, accountId, about);
  if (same > 0)
    throw faultAtField(
      'conflict',
      'focus exists',
      '/subject',
      'The group already has this focus. Change it instead.',
    );
  if (open >= maxOpenFocuses)
    throw tooMany(`A group can have ${maxOpenFocuses} open focuses. Finish or stop one of them first.`);
  if (all >= maxFocusesOfGroup)
    throw tooMany(`A group can have ${maxFocusesOfGroup} focuses in its history.`);
}

/** Returns the Fault for more focuses, or more history, than a group can have. */
const tooMany = (message: string) => new Fault('conflict', 'too many focuses', message);

const subjectNotFound = (kind: 'kpi' | 'question') =>
  faultAtField(
    'not_found',
    kind === 'kpi' ? 'kpi not found' : 'question not found',
    '/subject',
    kind === 'kpi'
      ? 'This KPI does not exist. Choose another one.'
      : 'This question does not exist or is retired. Choose another one.',
  );

/** Returns the Fault for a focus that does not exist, or that the caller may not see. */
export const focusNotFound = (): Fault =>
  new Fault('not_found', 'focus not found', 'This focus does not exist. Its group may have been removed.');

const wrongState = (state: FocusState) =>
  new Fault(
    'conflict',
    'focus not open',
    state === 'open'
      ? 'This focus is open, so it can’t be reopened.'
      : `This focus is ${state}. Reopen it first.`,
  );
