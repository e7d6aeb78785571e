// Reads the file of `soundings push`: JSON as in the organization interface, or a spreadsheet with the columns of docs/integrators/files.md.
import { readFile, stat } from 'node:fs/promises';
import type { OrganizationList } from '@soundings/client/list-parts.ts';
import type { PushSettings } from '@soundings/client/plans.ts';
import { maxOrganizationBodyBytes, maxUploadBytes } from '@soundings/contract/limits.ts';
import type { Detail } from '@soundings/contract/problem.ts';
import { Fault } from '../../base/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../../base/json/json.ts';
import { quote } from '../../base/text.ts';
import { findingsIn } from '../../files/placed-findings.ts';
import { withGroupIds } from '../../layout/group-names.ts';
import { type LaidOutFile, layOut } from '../../layout/layout.ts';
import { type FileKind, kindOf } from '../../sheets/file-names.ts';
import { readSheets } from '../../sheets/sheet.ts';
import type { Findings } from '../../sync/findings.ts';
import { UsageError } from '../options.ts';
import { entriesIn, readAround } from './large-json.ts';
import { type FilePlace, placedText } from './push-text.ts';

/** `placeOf`: the place in the file for a JSON pointer into a request. `warnings`: what was noticed while reading. */
export type PushedFile = {
  list: OrganizationList;
  settings: PushSettings;
  warnings: Detail[];
  placeOf: (path: string) => FilePlace | undefined;
};

/** `attributes`: the columns with these headers are attributes. `country`: of phone numbers without a country code. */
export type FileReading = { attributes: readonly string[]; country: string | null };

/** Reads a file. Throws a Fault that lists everything that is wrong with it. */
export async function readPushedFile(path: string, reading: FileReading): Promise<PushedFile> {
  const kind = /\.json$/i.test(path) ? 'json' : kindOf(path);
  if (kind === undefined) throw new UsageError('FILE must end in .json, .csv, .xls or .xlsx.');
  const refuse = (error: NodeJS.ErrnoException) => {
    throw new UsageError(`${path} can't be read (${error.code}).`);
  };
  const { size } = await stat(path).catch(refuse);
  if (kind === 'json' && size > maxOrganizationBodyBytes) return largeJsonFile(path);
  const bytes = await readFile(path).catch(refuse);
  if (kind === 'json') return jsonFile(bytes);
  if (bytes.length > maxUploadBytes)
    throw new UsageError(`${path} is larger than ${maxUploadBytes / 2 ** 20} MB.`);
  return spreadsheet(bytes, kind, reading);
}

function jsonFile(bytes: Buffer): PushedFile {
  const parsed = parseJson(bytes);
  if ('fault' in parsed) throw new Fault('invalid', parsed.fault.type, parsed.fault.message);
  return fileOf(parsed.value);
}

/** Reads a file whose lists don't fit into memory. Its entries are read when they are sent. */
async function largeJsonFile(path: string): Promise<PushedFile> {
  const file = fileOf(await readAround(path));
  const list = { ...file.list } as Record<string, unknown>;
  for (const name of ['users', 'groups'] as const) {
    if (!Array.isArray(list[name])) continue;
    const place = file.placeOf(`/data/${name}/`)?.place ?? '';
    list[name] = { [Symbol.asyncIterator]: () => entriesIn(path, name, place) };
  }
  return { ...file, list };
}

/** Returns the lists and settings of a JSON file. */
function fileOf(value: JsonValue): PushedFile {
  if (!isJsonObject(value))
    throw new UsageError('The file must contain an object with settings and data, or with users and groups.');
  const isWhole = 'data' in value || 'settings' in value;
  refuseOtherKeys(value, isWhole ? ['settings', 'data'] : ['users', 'groups']);
  // The command does a dry run first, whatever the file says.
  const {
    validateOnly: _,
    expectedPlan: __,
    ...settings
  } = ((isWhole && value['settings']) || {}) as Record<string, never>;
  return {
    list: (isWhole ? value['data'] : value) as OrganizationList,
    settings,
    warnings: [],
    placeOf: (path) =>
      /^\/data\/(users|groups)\//.test(path) ? { place: isWhole ? path : path.slice(5) } : undefined,
  };
}

/** Throws if an object has other keys, or nothing to push: the rest would be sent, and the command would succeed without its users or groups. */
function refuseOtherKeys(value: JsonObject, allowed: readonly string[]): void {
  const other = Object.keys(value).find((key) => !allowed.includes(key));
  if (other !== undefined)
    throw new UsageError(
      `The file contains ${quote(other)} beside ${allowed.map((key) => quote(key)).join(' or ')}. It must contain an object with settings and data, or with users and groups. Nothing was sent.`,
    );
  const { settings = {}, data } = value;
  if (!isJsonObject(settings))
    throw new UsageError('"settings" in the file must be an object. Nothing was sent.');
  if (allowed.includes('data') && !isJsonObject(data))
    throw new UsageError(
      '"data" in the file must be an object with users, groups or both. Nothing was sent.',
    );
  const lists = isJsonObject(data) ? data : value;
  if (!('users' in lists) && !('groups' in lists))
    throw new UsageError('The file contains no "users" and no "groups". Nothing was sent.');
}

async function spreadsheet(
  bytes: Buffer,
  kind: FileKind,
  { attributes, country }: FileReading,
): Promise<PushedFile> {
  let laidOut: LaidOutFile | undefined;
  const findings = findingsIn(() => laidOut);
  const sheets = await readSheets(bytes, kind);
  // The account's own mappings are not known here, only the usual headers and values.
  const unmapped = { mappings: new Map(), values: new Map(), allowedValues: new Map(), isThere: () => false };
  laidOut = layOut(sheets, { ...unmapped, attributes, country }, findings);
  const data =
    laidOut &&
    withGroupIds(
      laidOut.data,
      { groups: [], isWhole: true, hasNamesOnly: laidOut.hasGroupNamesOnly },
      findings,
    );
  if (laidOut) refuseUnknownStatus(laidOut, findings);
  if (laidOut?.hasGroupNamesOnly) refuseNamesAsIds(laidOut, findings);
  refuseFaults(findings);
  const { users, groups } = data ?? {};
  return {
    list: {
      ...(users && { users: users.map((user, i) => withoutGuesses(user, i, laidOut as LaidOutFile)) }),
      ...(groups && { groups }),
    } as OrganizationList,
    settings: {},
    warnings: findings.warnings(),
    placeOf: (path) => laidOut?.placeOf(path),
  };
}

/** An uploaded file finds the account's groups by their names. Here the names would be their IDs, and would replace all other groups. */
function refuseNamesAsIds({ data }: LaidOutFile, findings: Findings): void {
  if (!data.groups?.length) return;
  findings.fault({
    type: 'missing column',
    message:
      'The groups have names but no IDs, so they would replace the groups that the account has. Add a column with the IDs of the groups, ' +
      'or upload the file, which finds groups by their names.',
    path: '/data/groups/0/externalId',
  });
}

/** A person whose status is not known would become active, and get surveys by mistake. */
function refuseUnknownStatus({ unknownStatus }: LaidOutFile, findings: Findings): void {
  for (const i of unknownStatus)
    findings.fault({
      type: 'invalid value',
      message:
        'This status is not known. Write yes or no, or upload the file in the console, where you can say what it means.',
      path: `/data/users/${i}/active`,
    });
}

/**
 * Leaves out what a file only suggests, and what the service completes from the account when it reads an uploaded file: roles inferred
 * from columns of managers, and groups of managers who are not all known. What is left out stays as it is.
 */
function withoutGuesses(user: object, index: number, laidOut: LaidOutFile): object {
  const { accessInfo, ...rest } = user as { accessInfo?: Record<string, unknown> };
  if (!accessInfo) return user;
  const { role, adminOf, ...access } = accessInfo;
  const isRoleKept = role !== undefined && !laidOut.inferredRoles.has(index);
  const isAdminKept = adminOf !== undefined && !laidOut.usersKeepingGroups.has(index);
  return { ...rest, accessInfo: { ...access, ...(isRoleKept && { role }), ...(isAdminKept && { adminOf }) } };
}

function refuseFaults(findings: Findings): void {
  const details = findings.faults();
  const [first] = details;
  if (!first) return;
  const message = `The file has ${findings.faultCount() === 1 ? '1 error' : `${findings.faultCount()} errors`}. Nothing was sent.`;
  throw new Fault('invalid', first.type as Fault['code'], message, {
    details: [{ type: first.type, message }, ...details.map((one) => ({ ...one, message: placedText(one) }))],
  });
}
