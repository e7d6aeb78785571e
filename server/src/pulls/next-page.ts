// Finds the next page of a JSON list, and notices pages that it can't follow: a list that ends too early would remove people. Pure.
import { isJsonObject, type JsonValue } from '../base/json/json.ts';
import { PullFault } from './pull-fault.ts';

type Field = { place: string; key: string; value: JsonValue };

/** How deep the frame of a list is searched for fields about its pages. */
const maxDepth = 4;

/** Returns the fields of the frame around a list, with their names in lower case and without signs. Lists are not searched. */
function fieldsIn(value: JsonValue, before = '', depth = 0): Field[] {
  if (!isJsonObject(value) || depth === maxDepth) return [];
  return Object.entries(value).flatMap(([name, inside]) => {
    const place = before + name;
    const key = name.toLowerCase().replaceAll(/[^a-z]/g, '');
    return [{ place, key, value: inside }, ...fieldsIn(inside, `${place}.`, depth + 1)];
  });
}

/** The fields that have the next page or lead to it, such as @odata.nextLink, links.next, next_page and nextPageToken. */
const nextKey =
  /^((odata)?next(page|records?)?(link|url|uri|href|token|cursor|number|offset|start|startindex|marker)?|(next)?continuation(token)?)$/;

/** The fields that say whether there is more. */
const moreKey = /^(has|is)?(more(results|items|data|pages|records|available)?|next(page)?)$/;
const lastKey = /^(is)?last(page)?$/;

/** Returns whether the value of a field that leads to the next page leads anywhere. */
function isFilled(value: JsonValue): boolean {
  if (typeof value !== 'object' || value === null) return !['', null, false, 0].includes(value);
  return Object.values(value).some(isFilled);
}

const isAddress = (text: string): boolean => /^(https?:|\.{0,2}\/|\?)|\?.*=/i.test(text);

/** Returns the address in a field: a text, or the href, link or url of an object. */
function addressIn(value: JsonValue): string | undefined {
  if (typeof value === 'string') return isAddress(value) ? value : undefined;
  if (!isJsonObject(value)) return undefined;
  const names = ['href', 'link', 'url'].filter((name) => Object.hasOwn(value, name));
  return names.map((name) => addressIn(value[name]!)).find((address) => address !== undefined);
}

/** Returns what a response says about the next page: its address or number, whether there is none, or a field that can't be followed. */
function saidIn(value: JsonValue): {
  address?: string | undefined;
  number?: number | undefined;
  more?: string | undefined;
  isEnd: boolean;
} {
  const fields = fieldsIn(value);
  const nexts = fields.filter(({ key }) => nextKey.test(key));
  const filled = nexts.filter((field) => isFilled(field.value));
  const flags = fields.filter(
    (field) => typeof field.value === 'boolean' && (moreKey.test(field.key) || lastKey.test(field.key)),
  );
  const more = flags.find((field) => field.value !== lastKey.test(field.key));
  return {
    address: filled.map((field) => addressIn(field.value)).find((address) => address !== undefined),
    number: filled
      .filter(({ key }) => /^next(page(number)?)?$/.test(key))
      .map((field) => (typeof field.value === 'boolean' ? NaN : Number(field.value)))
      .find((number) => Number.isSafeInteger(number)),
    more: (filled[0] ?? more)?.place,
    isEnd: filled.length === 0 && !more && (nexts.length > 0 || flags.length > 0),
  };
}

/** The parameters of addresses that choose a page: how many entries it has, which one it is, and whether that counts entries. */
const numbered = [
  { size: 'limit', page: 'offset', isOffset: true },
  { size: 'page_size', page: 'page', isOffset: false },
  { size: 'per_page', page: 'page', isOffset: false },
];

const isNumber = (text: string | null): boolean => /^\d+$/.test(text ?? '');

/** Returns the parameter that chooses a page in an address; undefined if it has none. */
export const pageParameterOf = ({ searchParams }: URL): string | undefined =>
  ['offset', 'page'].find((name) => isNumber(searchParams.get(name)));

/** Returns the address of the next page in a Link header (RFC 8288). */
export const nextInHeader = (link: string | undefined): string | undefined =>
  /<([^>]*)>\s*;[^,]*\brel="?next\b/i.exec(link ?? '')?.[1];

/**
 * Where a page is, and what was read so far. `link`: the Link header. `count`: how many entries this page has. `read`: how many all pages
 * have so far.
 */
export type PageRead = { url: URL; link: string | undefined; count: number; read: number };

/**
 * Returns the address of the next page; undefined if this is the last one. Throws a PullFault if there is another one that can't be
 * followed. An address with limit and offset, or page_size and page, is continued until the response says that it is the last page, until
 * as many entries as it has in all are read, or until a page is empty: a page with fewer entries than requested doesn't end the list, because
 * the system may limit the size of pages.
 */
export function nextPage(value: JsonValue, { url, link, count, read }: PageRead): URL | undefined {
  const said = saidIn(value);
  const next = nextInHeader(link) ?? said.address;
  if (next !== undefined) {
    const address = URL.parse(next, url.href);
    if (!address) throw new PullFault('next', 'The address of the next page is invalid.');
    return address;
  }
  const parameters = url.searchParams;
  const form = numbered.find(({ size, page }) =>
    [size, page].every((name) => isNumber(parameters.get(name))),
  );
  const following = new URL(url);
  if (said.number !== undefined && isNumber(parameters.get('page'))) {
    following.searchParams.set('page', String(said.number));
    return following;
  }
  if (form && count > 0 && Number(parameters.get(form.size)) > 0) {
    const isEnd = said.isEnd || /\brel="?(prev|first|last)\b/i.test(link ?? '');
    if (said.more === undefined && (isEnd || read === totalIn(value, allTotals))) return undefined;
    const before = Number(parameters.get(form.page));
    following.searchParams.set(form.page, String(before + (form.isOffset ? count : 1)));
    return following;
  }
  if (said.more === undefined) return undefined;
  throw new PullFault(
    'incomplete',
    `${said.more}: there is another page, and its address is not known. Request the whole list as one page, or add page_size and page, or limit and offset, to the address.`,
  );
}

/** The fields that say how many entries a list has in all. `count` may also be that of the page. */
const allTotals = /^(odatacount|total(results|count|elements|items|records|entries|rows|size)?)$/;
const allCounts = new RegExp(`${allTotals.source}|^count$`);

/** Returns how many entries the list has in all, as far as the frame of a response says so; the largest one if it says several. */
export function totalIn(value: JsonValue, keys = allCounts): number | undefined {
  const places = /^[^.]+$|^@odata\.count$|^(_?meta|metadata|pagination|paging|page|meta\.pagination)\.[^.]+$/;
  const totals = fieldsIn(value)
    .filter(({ place, key }) => places.test(place) && keys.test(key))
    .flatMap((field) =>
      typeof field.value === 'number' || (typeof field.value === 'string' && isNumber(field.value))
        ? [Number(field.value)]
        : [],
    );
  return totals.length === 0 ? undefined : Math.max(...totals);
}
