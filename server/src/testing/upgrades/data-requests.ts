// Requests to the data interface that together read everything in an account, and what it responds.
import type { Group, Kpi } from '@soundings/contract/data.ts';

/** The responses of an account, by the path of each request. */
export type Responses = Record<string, { status: number; type: string | null; body: string }>;

/** Returns a response without the random ID that the body of an error has. Everything else is compared byte for byte. */
export const withoutErrorId = (response: Responses[string]): Responses[string] =>
  response.status < 400
    ? response
    : { ...response, body: response.body.replace(/^\{"id":"[^"]*"/, '{"id":"…"') };

/** Sends the requests of an account with this token, or those of an earlier recording. */
export async function readAll(
  address: string,
  authorization: string,
  recorded?: Responses,
): Promise<Responses> {
  const responses: Responses = {};
  const get = async (path: string) => {
    const response = await fetch(address + path, { headers: { authorization } });
    const body = await response.text();
    responses[path] = { status: response.status, type: response.headers.get('content-type'), body };
    return body;
  };
  const paths = recorded ? Object.keys(recorded) : await pathsOf(get);
  for (const path of paths) await get(path);
  return responses;
}

/** Returns the paths of every operation of the interface, with each of its parameters. */
async function pathsOf(get: (path: string) => Promise<string>): Promise<string[]> {
  const groups = JSON.parse(await get('/v1/groups')) as Group[];
  const segments = JSON.parse(await get('/v1/groups?kind=segment')) as Group[];
  const kpis = (JSON.parse(await get('/v1/kpis')) as Kpi[]).map(({ id }) => encodeURIComponent(id));
  const top = groups.toSorted((a, b) => b.subgroups.length - a.subgroups.length)[0]?.id ?? 0;
  const scopes = [
    `groupId=${top}&includeSubgroups=true`,
    ...segments.slice(0, 2).map(({ id }) => `groupId=${id}`),
  ];
  const always = 'fromDate=2020-01-01&toDate=2099-12-31';
  return [
    ...scopes.flatMap((scope) => [
      ...[...kpis.slice(0, 3), 'unknown'].map((kpi) => `/v1/kpis/${kpi}/values?${scope}`),
      ...kpis.map((kpi) => `/v1/kpis/${kpi}/values?${scope}&${always}`),
      `/v1/responserates/values?${scope}`,
      `/v1/responserates/values?${scope}&${always}`,
      `/v1/results?${scope}`,
      `/v1/results?${scope}&includeComments=true&granularData=true&${always}`,
      `/v1/results?${scope}&language=sv&questionIds=1,2,3&${always}`,
      `/v1/askedquestions?${scope}&language=sv`,
      `/v1/askedquestions?${scope}&${always}`,
    ]),
    ...groups.map(({ id }) => `/v1/results?groupId=${id}&includeComments=true`),
    '/v1/results?groupId=987654321',
    '/v1/results?groupId=x',
    '/v1/kpis?unknown=1',
    '/v1/feed',
    '/v1/feed?kind=segment&format=ndjson',
    `/v1/feed?metric=kpi,responserate&groupId=${top}&language=sv&${always}`,
  ];
}
