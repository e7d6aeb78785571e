// Fetches a list: gets a token if one is needed, follows its pages, and returns it as a file. Nothing here reads or writes the database.
import { maxUploadBytes } from '@soundings/contract/limits.ts';
import { maxPullBytes, maxPullRequests, maxPullResponse } from '@soundings/contract/pulls/pull-values.ts';
import type { Access } from '@soundings/contract/pulls/pulls.ts';
import { createHash } from 'node:crypto';
import { isJsonObject, parseJson } from '../base/json/json.ts';
import { type Downloaded, fetchWhole, type OutgoingTimes } from '../base/outgoing/exchange.ts';
import { version } from '../base/version.ts';
import { accessHeaders, tokenRequestOf } from './access.ts';
import { columnsOfRows, csvFileOf, type FlatRow, flatRowsOf } from './flat-rows.ts';
import { listAt } from './json-list.ts';
import { nextInHeader, nextPage, pageParameterOf, totalIn } from './next-page.ts';
import { PullFault, connectionFaultOf, statusFaultOf } from './pull-fault.ts';

/** How long to wait, in ms, until the connection is ready, until the response begins, and until it has been read. A report may take minutes. */
const usualTimes: OutgoingTimes = { connect: 10_000, response: 120_000, body: 60_000 };

/** The largest response of a token endpoint, in bytes. */
const maxTokenResponse = 64 * 1024;

/** How many redirects within the same origin are followed. */
const maxRedirects = 3;

/** Where a list is, and how to get it. `columns`: those of earlier JSON lists. `canGrow`: new fields become columns. `known`: the validators of the last list, if it would not be processed again. */
export type ListSource = {
  url: string;
  list: string;
  access: Access;
  secret: string;
  columns: readonly string[];
  canGrow?: boolean;
  known?: { etag: string | null; lastModified: string | null } | undefined;
};

export type FetchOptions = {
  /** Private addresses and ranges that requests can reach (OUTGOING_NETWORKS). */
  networks: readonly string[];
  times?: OutgoingTimes | undefined;
};

/** The extension of a file, its content, and the validators of the response. `rows`: undefined for a file that is not read here. */
export type FetchedList = {
  kind: 'csv' | 'xls' | 'xlsx';
  bytes: Buffer;
  rows: number | undefined;
  columns: readonly string[];
  etag: string | null;
  lastModified: string | null;
};

/** What was requested, counted while it is. */
export type Effort = { requests: number; bytes: number };

/** Returns the list of a source; undefined if the source says that it is unchanged. Throws a PullFault. */
export async function readList(
  source: ListSource,
  options: FetchOptions,
  effort: Effort,
): Promise<FetchedList | undefined> {
  const credentials =
    source.access.kind === 'oauth' ? await requestToken(source, options, effort) : source.secret;
  const headers = {
    ...accessHeaders(source.access, credentials),
    accept:
      'application/json, text/csv, application/vnd.openxmlformats-officedocument.spreadsheetml.sheet, */*;q=0.1',
    'accept-encoding': 'gzip',
    'user-agent': `Soundings/${version}`,
  };
  const url = new URL(source.url);
  const first = await get(url, { ...headers, ...conditionsOf(source.known) }, options, effort);
  if (first.response.status === 304 && source.known) return undefined;
  const response = acceptable(first.response, url);
  const { etag = null, 'last-modified': lastModified = null } = response.headers;
  const kind = kindOf(response);
  if (kind !== 'json') {
    if (response.body.length === 0) throw new PullFault('empty');
    if (response.body.length > maxUploadBytes) throw new PullFault('large', '10 MB');
    refusePages(first);
    // The columns of JSON lists stay known, in case the source sends JSON again.
    return { kind, bytes: response.body, rows: undefined, columns: source.columns, etag, lastModified };
  }
  const { rows, isPaged } = await readPages({ ...source, headers }, first, options, effort);
  if (rows.length === 0) throw new PullFault('empty');
  const columns = columnsOfRows(rows, source.columns, source.canGrow);
  const bytes = csvFileOf(columns, rows);
  if (bytes.length > maxUploadBytes) throw new PullFault('large', '10 MB');
  // The validators of a first page say nothing about the other pages.
  const validators = isPaged ? { etag: null, lastModified: null } : { etag, lastModified };
  return { kind: 'csv', bytes, rows: rows.length, columns, ...validators };
}

function conditionsOf(known: ListSource['known']): Record<string, string> {
  if (known?.etag) return { 'if-none-match': known.etag };
  return known?.lastModified ? { 'if-modified-since': known.lastModified } : {};
}

type Page = { url: URL; response: Downloaded };

/** Returns the rows of all pages, from the first page on. */
async function readPages(
  { list, headers }: { list: string; headers: Record<string, string> },
  first: Page,
  options: FetchOptions,
  effort: Effort,
): Promise<{ rows: FlatRow[]; isPaged: boolean }> {
  const rows: FlatRow[] = [];
  const seen = new Set<string>();
  let page = first;
  let total: number | undefined;
  for (;;) {
    refuseRepeated(seen, page);
    const parsed = parseJson(page.response.body);
    if ('fault' in parsed) throw new PullFault('json', parsed.fault.message);
    const items = listAt(parsed.value, list);
    for (const row of flatRowsOf(items, rows.length)) rows.push(row);
    total ??= totalIn(parsed.value);
    const link = linkOf(page.response);
    const next = nextPage(parsed.value, { url: page.url, link, count: items.length, read: rows.length });
    if (!next) break;
    if (next.origin !== first.url.origin) throw new PullFault('next', next.host);
    if (effort.requests >= maxPullRequests)
      throw new PullFault('next', `More than ${maxPullRequests} pages.`);
    page = await get(next, headers, options, effort);
    acceptable(page.response, next);
  }
  if (total !== undefined && rows.length < total)
    throw new PullFault('incomplete', `${rows.length} of ${total}`, true);
  return { rows, isPaged: page !== first };
}

/** Throws a PullFault if a file is only a page of a list, because the pages of files are not joined. */
function refusePages({ url, response }: Page): void {
  const parameter = pageParameterOf(url);
  if (parameter === undefined && nextInHeader(linkOf(response)) === undefined) return;
  const remedy = 'Let the source send the whole file in one response, or as JSON.';
  const sign = parameter === undefined ? 'Link: rel="next"' : parameter;
  throw new PullFault('incomplete', `CSV and Excel files can’t be read in pages (${sign}). ${remedy}`);
}

const linkOf = ({ headers }: Downloaded): string | undefined =>
  [headers['link'] ?? []].flat().join(', ') || undefined;

/** Throws a PullFault if a page has the address or the content of an earlier one, because such pages may never end. */
function refuseRepeated(seen: Set<string>, { url, response }: Page): void {
  const content = createHash('sha256').update(response.body).digest('base64');
  if (seen.has(url.href) || seen.has(content)) throw new PullFault('next', 'A page is repeated.');
  seen.add(url.href).add(content);
}

/** Sends a request, and follows redirects within its origin. Throws a PullFault. */
async function get(
  start: URL,
  headers: Record<string, string>,
  options: FetchOptions,
  effort: Effort,
): Promise<Page> {
  let url = start;
  for (let redirects = 0; ; redirects++) {
    const response = await request({ url, method: 'GET', headers, body: '' }, options, effort);
    const { location } = response.headers;
    if (response.status < 300 || response.status > 399 || response.status === 304 || location === undefined)
      return { url, response };
    const target = URL.parse(location, url.href);
    // The credentials are for this origin only. A redirect elsewhere mostly leads to a sign-in page.
    if (!target || target.origin !== start.origin || redirects === maxRedirects)
      throw new PullFault('redirect', target?.host ?? location);
    url = target;
  }
}

async function request(
  one: Parameters<typeof fetchWhole>[0],
  { networks, times = usualTimes }: FetchOptions,
  effort: Effort,
  maxBytes = Math.min(maxPullResponse, maxPullBytes - effort.bytes),
): Promise<Downloaded> {
  effort.requests++;
  try {
    const response = await fetchWhole(one, { reach: { networks }, times, maxBytes });
    effort.bytes += response.body.length;
    return response;
  } catch (error) {
    throw connectionFaultOf(error, one.url.host);
  }
}

/** Returns the first characters of a response, without a byte order mark and white space. */
const beginningOf = (body: Buffer): string =>
  body
    .toString('latin1', 0, 200)
    .replace(/^\xef\xbb\xbf/, '')
    .trimStart();

/** Returns a response with content. Throws a PullFault if it is an error or a web page. */
function acceptable(response: Downloaded, { host }: URL): Downloaded {
  const { status, headers, body } = response;
  if (status !== 200) throw statusFaultOf(status, host);
  const start = beginningOf(body);
  if (
    /^text\/html|^application\/xhtml/i.test(headers['content-type'] ?? '') ||
    /^<(!doctype html|html)\b/i.test(start)
  )
    throw new PullFault('web', host);
  if (start.startsWith('<')) throw new PullFault('format', 'XML');
  return response;
}

/** Returns what a response contains. Some systems send every file as the same content type, so the first bytes decide. */
function kindOf({ headers, body }: Downloaded): 'json' | FetchedList['kind'] {
  if (body.toString('latin1', 0, 2) === 'PK') return 'xlsx';
  if (body.toString('hex', 0, 4) === 'd0cf11e0') return 'xls';
  const type = headers['content-type'] ?? '';
  const start = beginningOf(body);
  const isJson = /[/+]json\b/i.test(type) || (!/csv/i.test(type) && /^[[{]/.test(start));
  return isJson ? 'json' : 'csv';
}

/** Returns an access token. Throws a PullFault. */
async function requestToken(source: ListSource, options: FetchOptions, effort: Effort): Promise<string> {
  const url = new URL(source.access.tokenUrl!);
  const { headers, body } = tokenRequestOf(source.access, source.secret);
  const more = { accept: 'application/json', 'user-agent': `Soundings/${version}` };
  const one = { url, method: 'POST', headers: { ...headers, ...more }, body };
  const response = await request(one, options, effort, maxTokenResponse);
  const parsed = parseJson(response.body);
  const value = 'value' in parsed ? parsed.value : null;
  const said = (name: string): string | undefined => {
    const text = isJsonObject(value) ? value[name] : undefined;
    return typeof text === 'string' && text !== '' ? text : undefined;
  };
  const { status } = response;
  const token = said('access_token');
  if (status === 200 && token !== undefined && /^[\x21-\x7e]+$/.test(token)) {
    if ((said('token_type') ?? 'bearer').toLowerCase() === 'bearer') return token;
    throw new PullFault('token', `${url.host}: ${said('token_type')} is not a bearer token.`);
  }
  const why = [said('error'), said('error_description')].filter((text) => text !== undefined).join(': ');
  const isBrief = status === 429 || status >= 500;
  throw new PullFault(
    'token',
    `${url.host}: HTTP ${status}${why === '' ? '' : `, ${withoutSecret(why, source)}`}`,
    isBrief,
  );
}

/** Some systems repeat in an error what they were sent: the secret as it is, or in one of the forms in which it is sent. */
function withoutSecret(text: string, { secret, access }: ListSource): string {
  if (secret === '') return text;
  const { clientId = '' } = access;
  const { authorization } = tokenRequestOf({ ...access, method: 'basic' }, secret).headers;
  const forms = [
    authorization!.replace(/^Basic /, ''),
    Buffer.from(`${clientId}:${secret}`).toString('base64'),
    new URLSearchParams({ '': secret }).toString().slice(1),
    encodeURIComponent(secret),
    secret,
  ];
  return forms.reduce((left, form) => left.replaceAll(form, '***'), text);
}
