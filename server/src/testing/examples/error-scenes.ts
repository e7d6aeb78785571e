// Requests that are refused, one for each type of error of the interfaces: wrong addresses, parameters, bodies and SCIM requests.
import { getAudit } from '@soundings/contract/audit/audit.ts';
import { getFeed, getGroups, getKpiValues, getResults } from '@soundings/contract/data.ts';
import { maxFaultsListed } from '@soundings/contract/limits.ts';
import type { Operation } from '@soundings/contract/operation.ts';
import { postOrganization } from '@soundings/contract/organization.ts';
import type { DetailType } from '@soundings/contract/problem.ts';
import { scimBulk, scimMe, scimUsers } from '@soundings/contract/scim/scim.ts';
import { getFileReport, uploadFile } from '@soundings/contract/storage.ts';
import type { Sent } from './recorder.ts';
import { scimUser } from './operation-scenes.ts';

/** A request that is refused. */
export type ErrorScene = {
  type: DetailType;
  /** The operation, or an address that none has. */
  at: Operation | { method: string; path: string };
  params?: Record<string, string>;
  /** A query that is sent as it is. */
  search?: string;
  sent?: Sent;
  /** The request is too large to be shown. */
  isHidden?: boolean;
  note?: string;
};

/** Requests with a valid token, by the order in which they are documented. */
export const requestErrors = (groupId: string): ErrorScene[] => [
  { type: 'invalid token', at: getGroups, sent: { token: 'snd_not_a_token' } },
  { type: 'not found', at: { method: 'GET', path: '/v1/group' } },
  { type: 'method not allowed', at: { method: 'POST', path: '/v1/groups' } },
  { type: 'unsupported media type', at: postOrganization, sent: { body: '{}', bodyType: 'text/plain' } },
  { type: 'unknown parameter', at: getGroups, search: '?group=1' },
  { type: 'repeated parameter', at: getResults, search: `?groupId=${groupId}&groupId=2` },
  { type: 'missing parameter', at: getResults },
  { type: 'invalid parameter', at: getFeed, search: '?fromDate=2026-11-31&toDate=2026-12-31' },
  { type: 'group not found', at: getResults, search: '?groupId=999999' },
  { type: 'kpi not found', at: getKpiValues, params: { kpiId: 'happiness' }, search: `?groupId=${groupId}` },
  { type: 'audit log changed', at: getAudit, search: `?after=1&hash=${'ab'.repeat(32)}` },
  { type: 'file validation', at: uploadFile, sent: { file: { name: 'users.pdf', text: '%PDF-1.7' } } },
  { type: 'file not found', at: getFileReport, params: { name: 'nothing.csv' } },
  { type: 'not downloadable', at: { method: 'GET', path: '/v1/storage/files/users.csv' } },
];

const sendsRaw = (
  type: DetailType,
  body: string | Uint8Array,
  more: Partial<ErrorScene> = {},
): ErrorScene => ({
  type,
  at: postOrganization,
  sent: { body },
  ...more,
});

/** Bodies that can't be read. */
export const bodyErrors: ErrorScene[] = [
  sendsRaw('invalid gzip', 'not compressed', {
    sent: { body: 'not compressed', headers: { 'content-encoding': 'gzip' } },
  }),
  sendsRaw('invalid utf-8', Buffer.from('{"data":{"groups":[{"externalId":"ume\u00e5"}]}}', 'latin1'), {
    isHidden: true,
    note: 'The body was written in Latin-1.',
  }),
  sendsRaw('invalid json', '{"data": {"users": [}}'),
  sendsRaw('duplicate key', '{"data": {"users": []}, "data": {"groups": []}}'),
  sendsRaw(
    'invalid text',
    String.raw`{"data": {"groups": [{"externalId": "north", "name": "North\u0000"}]}}`,
  ),
  sendsRaw('too deep', `${'['.repeat(40)}${']'.repeat(40)}`),
  sendsRaw(
    'too many values',
    JSON.stringify(Object.fromEntries(Array.from({ length: 10_001 }, (_, i) => [`key ${i}`, 1]))),
    { isHidden: true, note: 'The body is an object with 10,001 keys.' },
  ),
];

const person = (externalId: string, more: object = {}) => ({
  externalId,
  firstName: 'Rosa',
  lastName: 'Núñez',
  ...more,
});
const pushes = (type: DetailType, data: object, more: Partial<ErrorScene> = {}): ErrorScene => ({
  type,
  at: postOrganization,
  sent: { body: { data } },
  ...more,
});
const pushesUser = (type: DetailType, more: object, note?: string): ErrorScene =>
  pushes(type, { users: [person('1003', more)] }, note === undefined ? {} : { note });

/** Organization requests whose content is refused. The company has the groups company and north, and the user 1001. */
export const pushErrors: ErrorScene[] = [
  pushesUser('wrong type', { active: 'true' }),
  pushes('missing field', { users: [{ externalId: '1003', firstName: 'Rosa' }] }),
  { type: 'unknown field', at: postOrganization, sent: { body: { settings: { validateonly: true } } } },
  { type: 'out of range', at: postOrganization, sent: { body: { settings: { maxUsersDeleted: -1 } } } },
  pushes(
    'too long',
    { groups: [{ externalId: 'n', name: 'North '.repeat(84) }] },
    {
      isHidden: true,
      note: 'The name of the group has 504 characters.',
    },
  ),
  pushes('invalid externalId', { users: [person(' 1003')] }),
  pushesUser('invalid email', { email: 'rosa at example.com' }),
  pushesUser('invalid phone', { phone: '070-123 45 67' }),
  pushesUser('invalid timezone', { timezone: 'Sweden' }),
  pushesUser('invalid language', { language: 'swedish' }),
  pushes('duplicate externalId', { users: [person('1003'), person('1003', { firstName: 'Rosa María' })] }),
  pushes('duplicate email', {
    users: [person('1003', { email: 'rosa@example.com' }), person('1004', { email: 'Rosa@example.com' })],
  }),
  pushes(
    'manually created',
    { groups: [{ externalId: 'manual', name: 'Works council' }] },
    {
      note: 'The group manual was created in the console.',
    },
  ),
  pushesUser('unknown group', { accessInfo: { memberOf: ['west'] } }),
  pushes('unknown parent', { groups: [{ externalId: 'south', name: 'South', parent: 'west' }] }),
  pushes('cycle', {
    groups: [
      { externalId: 'a', name: 'A', parent: 'b' },
      { externalId: 'b', name: 'B', parent: 'a' },
    ],
  }),
  pushesUser('unknown attribute', { externalProperties: { Shoes: '43' } }),
  pushesUser(
    'value not allowed',
    { externalProperties: { Site: 'Paris' } },
    'The values of Site are Oulu and Umeå.',
  ),
  {
    type: 'unexpected plan',
    at: postOrganization,
    sent: {
      body: {
        settings: { expectedPlan: 'oZ1s0xLcTk2vKqg1Hf5nRw' },
        data: { groups: [{ externalId: 'company', name: 'Example AB' }] },
      },
    },
    note: 'The plan of the dry run was another one.',
  },
  {
    type: 'limit exceeded',
    at: postOrganization,
    sent: { body: { settings: { maxUsersDeleted: 0 }, data: { users: [] } } },
  },
  pushes(
    'more',
    {
      users: Array.from({ length: maxFaultsListed + 2 }, (_, i) => ({ externalId: `${i}`, firstName: 'A' })),
    },
    {
      isHidden: true,
      note: `The request has ${maxFaultsListed + 2} users without a last name. The example shows the last entry of details.`,
    },
  ),
];

/** Organization requests that are accepted with a warning. */
export const pushWarnings: ErrorScene[] = [
  pushesUser('trunk zero', { phone: '+46 (0)70-123 45 67' }),
  pushes(
    'new externalId',
    { users: [{ ...ingrid(), externalId: 'E-1001' }] },
    {
      note: 'Until now, the user with this email address has the externalId 1001.',
    },
  ),
  pushes(
    'moved up',
    { groups: [{ externalId: 'company', name: 'Example Ltd' }] },
    {
      note: 'The manually created group Works council is in the group north, which is removed.',
    },
  ),
  pushesUser('administrator pending', { email: 'rosa@example.com', accessInfo: { role: 'Administrator' } }),
  pushesUser('named twice', { accessInfo: { memberOf: ['north', 'north'] } }),
];

/** The user that the company has. */
export function ingrid() {
  return {
    externalId: '1001',
    firstName: 'Ingrid',
    lastName: 'Åberg',
    email: 'ingrid.aberg@example.com',
    accessInfo: { memberOf: ['company'] },
  };
}

const patch = (...operations: object[]): Sent => ({
  body: { schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'], Operations: operations },
});

/** Requests of a directory that has one user, `id`. */
export const scimErrors = (id: string): ErrorScene[] => [
  { type: 'invalid filter', at: scimUsers.list, search: '?filter=userName%20like%20%22ingrid%22' },
  {
    type: 'invalid path',
    at: scimUsers.change,
    params: { id },
    sent: patch({ op: 'replace', path: 'shoes', value: 43 }),
  },
  { type: 'no target', at: scimUsers.change, params: { id }, sent: patch({ op: 'remove' }) },
  {
    type: 'invalid syntax',
    at: scimUsers.change,
    params: { id },
    sent: patch({ op: 'move', path: 'active' }),
  },
  {
    type: 'read-only attribute',
    at: scimUsers.change,
    params: { id },
    sent: patch({ op: 'replace', path: 'id', value: 'x' }),
  },
  {
    type: 'invalid value',
    at: scimUsers.replace,
    params: { id },
    sent: { body: scimUser('Ingrid', 'Berg', { active: 'sometimes' }) },
  },
  { type: 'already exists', at: scimUsers.create, sent: { body: scimUser('Ingrid', 'Berg') } },
  { type: 'resource not found', at: scimUsers.read, params: { id: '019a95c2-7e00-7000-8000-ffffffffffff' } },
  {
    type: 'version changed',
    at: scimUsers.replace,
    params: { id },
    sent: { body: scimUser('Ingrid', 'Lind'), headers: { 'if-match': 'W/"0"' } },
  },
  { type: 'not supported', at: scimMe },
  {
    type: 'too large',
    at: scimBulk,
    sent: { body: ' '.repeat(1_100_000) },
    isHidden: true,
    note: 'The body has 1.1 MB.',
  },
];

/** A search of a directory with more than 50,000 users, `maxCompared` in scim/search.ts. */
export const tooManyResults: ErrorScene = {
  type: 'too many results',
  at: scimUsers.list,
  search: '?filter=title%20eq%20%22Nurse%22',
  note: 'The directory has more than 50,000 users.',
};
