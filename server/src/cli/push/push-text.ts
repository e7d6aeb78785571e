// What `soundings push` prints: a plan as the report of a run, with the first of each kind of change.
import type { User } from '@soundings/client/list-parts.ts';
import type { Change, Plan } from '@soundings/client/plans.ts';
import { membershipKinds } from '@soundings/contract/people/memberships.ts';
import type { Detail } from '@soundings/contract/problem.ts';
import { quote } from '../../base/text.ts';

/**
 * `warnings`: of reading the file. `shown`: how many changes of each kind are printed. `accessOf`: the role and groups that the file has for a person
 * (a function, so that they are not part of the JSON output).
 */
export type ShownPlan = {
  plan: Plan;
  warnings: readonly Detail[];
  shown: number;
  accessOf: (externalId: string) => User['accessInfo'];
};

const kinds = [
  ['user', 'create', '+', 'Users added'],
  ['user', 'update', '~', 'Users changed'],
  ['user', 'delete', '-', 'Users removed'],
  ['group', 'create', '+', 'Groups added'],
  ['group', 'update', '~', 'Groups changed'],
  ['group', 'delete', '-', 'Groups removed'],
] as const;

const warningsShown = 20;

/** Returns a plan as text. */
export function planText({ plan, warnings, shown, accessOf }: ShownPlan): string {
  const { users, groups } = plan.summary;
  const counts = ({ created, updated, deleted, unchanged }: typeof users) =>
    `${created} added, ${updated} changed, ${deleted} removed, ${unchanged} unchanged`;
  const all = [...warnings, ...plan.warnings];
  const isRoleIgnored = plan.warnings.some(({ type }) => type === 'roles ignored');
  const newAccess = ({ entity, action, externalId }: Change) =>
    entity === 'user' && action === 'create' ? accessText(accessOf(externalId), isRoleIgnored) : '';
  return [
    `Users: ${counts(users)}`,
    `Groups: ${counts(groups)}`,
    ...kinds.flatMap(([entity, action, sign, title]) => {
      const found = plan.changes.filter((one) => one.entity === entity && one.action === action);
      const lines = found
        .slice(0, shown)
        .map((change) => `  ${sign} ${changeText(change)}${newAccess(change)}`);
      return found.length === 0 ? [] : [`${title}:`, ...lines, ...moreText(found.length - lines.length)];
    }),
    ...(all.length === 0
      ? []
      : ['Warnings:', ...all.slice(0, warningsShown).map((one) => `  ${placedText(one)}`)]),
    ...moreText(all.length - warningsShown),
    ...plan.limits.map(
      ({ setting, limit, count }) =>
        `Over the limit: ${setting} allows ${limit} changes, and this plan has ${count}. If this is intended, add ${optionOf(setting)} ${count}.`,
    ),
    `Dry run: ${plan.runId}`,
  ]
    .map(terminalSafe)
    .join('\n');
}

/** Returns a text in which characters that control a terminal or the direction of text are visible. */
export const terminalSafe = (text: string): string =>
  text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (one) => `\\u{${one.codePointAt(0)?.toString(16)}}`);

const moreText = (count: number) => (count > 0 ? [`  … and ${count} more`] : []);

function changeText({ externalId, fields = {} }: Change): string {
  const changed = Object.entries(fields).map(
    ([name, { from, to }]) => `${name} ${valueText(from)} → ${valueText(to)}`,
  );
  return [quote(externalId), ...changed].join(' ');
}

/** Returns what a created person gets: the role, unless it is User or ignored, and the groups. The changes of a report don't have them. */
function accessText({ role = 'User', ...groups }: User['accessInfo'] = {}, isRoleIgnored: boolean): string {
  const memberships = membershipKinds.filter((kind) => (groups[kind] ?? []).length > 0);
  return [
    ...(role === 'User' || isRoleIgnored ? [] : [` role ${quote(role)}`]),
    ...memberships.map((kind) => ` ${kind} ${valueText(groups[kind])}`),
  ].join('');
}

function valueText(value: unknown): string {
  if (value === null || value === undefined) return 'nothing';
  return quote(typeof value === 'string' ? value : JSON.stringify(value));
}

/** Returns the option for a limit: --max-users-created for maxUsersCreated. */
export const optionOf = (setting: string): string =>
  `--${setting.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** A place in a spreadsheet, or in a JSON file as a JSON pointer. */
export type FilePlace = {
  sheet?: string | undefined;
  row?: number;
  column?: string;
  place?: string;
};

/** Returns the message of an error or warning, after its place in the file. */
export function placedText({
  message,
  sheet,
  row,
  column,
  place: pointer,
}: Omit<Detail, 'type' | keyof FilePlace> & FilePlace): string {
  if (pointer !== undefined) return `${pointer}: ${message}`;
  const places = [
    ...(sheet === undefined ? [] : [`sheet ${quote(sheet)}`]),
    ...(row === undefined ? [] : [`row ${row}`]),
    ...(column === undefined ? [] : [`column ${quote(column)}`]),
  ];
  if (places.length === 0) return message;
  const place = places.join(', ');
  return `${place.charAt(0).toUpperCase()}${place.slice(1)}: ${message}`;
}
