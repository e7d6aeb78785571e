// A request to every operation of the interfaces: data and audit of the demo company, and imports into a new company.
import { readFileSync } from 'node:fs';
import { getAudit } from '@soundings/contract/audit/audit.ts';
import {
  getAskedQuestions,
  getFeed,
  getGroups,
  getKpis,
  getKpiValues,
  getResponseRates,
  getResults,
  type Group,
} from '@soundings/contract/data.ts';
import { postOrganization, postOrganizationShort } from '@soundings/contract/organization.ts';
import {
  scimBulk,
  scimDefinitions,
  scimGroups,
  scimMe,
  scimSearch,
  scimUsers,
} from '@soundings/contract/scim/scim.ts';
import {
  type FileReport,
  getFileReport,
  isUnderWay,
  listFiles,
  uploadFile,
} from '@soundings/contract/storage.ts';
import { until } from '../until.ts';
import { pathOf, type Recorder, sendTo } from './recorder.ts';

const example = (name: string) =>
  readFileSync(new URL(`../../../../docs/examples/${name}`, import.meta.url), 'utf8');

const demo = 'The demo company';
/** The Wednesday of the demo company's open week is 18 November 2026. */
const closedWeeks = { fromDate: '2026-11-02', toDate: '2026-11-15' };

/** Reads the results and the audit log of the demo company. */
export async function recordReading(recorder: Recorder, token: string): Promise<void> {
  const { body } = await recorder.record(getGroups, demo, { token });
  const groups = body as Group[];
  const top = groups[0] as Group;
  const groupId = String((groups.find(({ subgroups }) => subgroups.length === 0) ?? top).id);
  const figures = { groupId: String(top.id), ...closedWeeks };
  await recorder.record(getKpis, demo, { token });
  await recorder.record(getKpiValues, demo, {
    token,
    params: { kpiId: 'workload' },
    query: { ...figures, includeSubgroups: 'true' },
  });
  await recorder.record(getResponseRates, demo, { token, query: figures });
  const query = { ...figures, includeComments: 'true' };
  await recorder.record(getResults, demo, { token, query, arrange: withSortedTexts });
  await recorder.record(getAskedQuestions, demo, { token, query: { groupId, ...closedWeeks } });
  await recorder.record(getFeed, demo, { token, query: { metric: 'kpi', ...closedWeeks } });
  await recorder.record(getAudit, demo, { token, query: { after: '0', limit: '2' } });
}

/** Returns a JSON value with its lists of texts in order: the service sends comments in a random one. */
function withSortedTexts(value: unknown): unknown {
  if (Array.isArray(value))
    return value.every((one) => typeof one === 'string') ? value.toSorted() : value.map(withSortedTexts);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, withSortedTexts(one)]));
}

/** Sends the lists of docs/examples into a new company. */
export async function recordImports(recorder: Recorder, address: string, token: string): Promise<void> {
  const organization = JSON.parse(example('organization.json')) as { data: unknown };
  const title = 'A new company, as a dry run';
  await recorder.record(postOrganization, title, { token, body: organization });
  await recorder.record(postOrganizationShort, title, { token, body: organization });
  const body = { ...organization, settings: { validateOnly: false } };
  await sendTo(address, 'POST', postOrganization.path, { token, body });
  const file = { name: 'users.csv', text: example('users.csv') };
  await recorder.record(uploadFile, 'A list of users', { token, file });
  const path = pathOf(getFileReport, { name: file.name });
  await until(async () => {
    const { body: report } = await sendTo(address, 'GET', path, { token });
    return !isUnderWay((report as FileReport).outcome);
  });
  await recorder.record(listFiles, 'After the upload', { token });
  await recorder.record(getFileReport, 'After the upload', { token, params: { name: file.name } });
}

const [userSchema, enterprise, groupSchema] = [
  'urn:ietf:params:scim:schemas:core:2.0:User',
  'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User',
  'urn:ietf:params:scim:schemas:core:2.0:Group',
];
const message = (name: string) => `urn:ietf:params:scim:api:messages:2.0:${name}`;

/** Returns a user as a directory sends it. */
export const scimUser = (
  givenName: string,
  familyName: string,
  more: object = {},
): Record<string, unknown> => ({
  schemas: [userSchema, enterprise],
  userName: `${givenName}.${familyName}@example.com`.toLowerCase(),
  externalId: `00u-${givenName.toLowerCase()}`,
  name: { givenName, familyName },
  emails: [{ type: 'work', primary: true, value: `${givenName}.${familyName}@example.com`.toLowerCase() }],
  active: true,
  [enterprise]: { department: 'Sales' },
  ...more,
});

/** Provisions a new company like a directory. Returns the ids of a user and a group that stay. */
export async function recordScim(recorder: Recorder, token: string): Promise<void> {
  const title = 'A directory that provisions a new company';
  const record = (...[operation, sent]: [Parameters<Recorder['record']>[0], object?]) =>
    recorder.record(operation, title, { token, ...sent });
  const idOf = async (sending: ReturnType<typeof record>) => ((await sending).body as { id: string }).id;
  const user = await idOf(record(scimUsers.create, { body: scimUser('Ingrid', 'Berg') }));
  const params = { id: user };
  await record(scimUsers.read, { params });
  await record(scimUsers.replace, { params, body: scimUser('Ingrid', 'Lind') });
  const change = { op: 'replace', path: 'active', value: false };
  await record(scimUsers.change, { params, body: { schemas: [message('PatchOp')], Operations: [change] } });
  await record(scimUsers.list, { query: { filter: 'userName eq "ingrid.lind@example.com"' } });
  const search = { schemas: [message('SearchRequest')], filter: 'active eq false', count: 10 };
  await record(scimUsers.search, { body: search });
  const group = {
    schemas: [groupSchema],
    displayName: 'Sales',
    externalId: 'sales',
    members: [{ value: user }],
  };
  const groupId = await idOf(record(scimGroups.create, { body: group }));
  const ofGroup = { params: { id: groupId } };
  await record(scimGroups.read, { ...ofGroup, query: { excludedAttributes: 'members' } });
  await record(scimGroups.replace, { ...ofGroup, body: { ...group, displayName: 'Sales North' } });
  const removal = { op: 'remove', path: `members[value eq "${user}"]` };
  await record(scimGroups.change, {
    ...ofGroup,
    body: { schemas: [message('PatchOp')], Operations: [removal] },
  });
  await record(scimGroups.list, { query: { count: '10' } });
  await record(scimGroups.search, { body: { ...search, filter: 'displayName sw "Sales"' } });
  await record(scimSearch, { body: { ...search, filter: 'externalId eq "sales"' } });
  const operations = [{ method: 'POST', path: '/Users', bulkId: 'mikko', data: scimUser('Mikko', 'Lahti') }];
  await record(scimBulk, { body: { schemas: [message('BulkRequest')], Operations: operations } });
  await record(scimDefinitions.config);
  await record(scimDefinitions.types);
  await record(scimDefinitions.type, { params: { id: 'User' } });
  await record(scimDefinitions.schemas);
  await record(scimDefinitions.schema, { params: { id: groupSchema } });
  await record(scimMe);
  await record(scimGroups.remove, ofGroup);
  await record(scimUsers.remove, { params });
}
