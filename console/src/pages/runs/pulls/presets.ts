// What a new pull is from the few fields that an administrator of each HR system knows. Without JSX, so that it can be tested.
import type { AccessKind, PullSource, Repeat } from '@soundings/contract/pulls/pull-values.ts';
import type { Access, PullView } from '@soundings/contract/pulls/pulls.ts';

/** The input of the form. The names with a slash are those of the service, so that its errors are shown at their fields. */
export type PullValues = {
  name: string;
  source: PullSource;
  url: string;
  list: string;
  kind: AccessKind;
  'access/header': string;
  'access/user': string;
  'access/tokenUrl': string;
  'access/clientId': string;
  'access/scope': string;
  'access/audience': string;
  'access/resource': string;
  'access/method': 'post' | 'basic';
  secret: string;
  repeat: Repeat;
  hour: string;
  weekday: string;
  /** The company's subdomain and the number of the report at BambooHR, and the ID of the directory at Microsoft. */
  company: string;
  report: string;
  tenant: string;
};

export const emptyPull: PullValues = {
  name: '',
  source: 'workday',
  url: '',
  list: '',
  kind: 'header',
  'access/header': '',
  'access/user': '',
  'access/tokenUrl': '',
  'access/clientId': '',
  'access/scope': '',
  'access/audience': '',
  'access/resource': '',
  'access/method': 'post',
  secret: '',
  repeat: 'daily',
  hour: '5',
  weekday: '1',
  company: '',
  report: '',
  tenant: '',
};

/** The fields of Microsoft Graph that Soundings can use. The manager is another object, so it is expanded. */
const graphUrl =
  'https://graph.microsoft.com/v1.0/users?$select=id,givenName,surname,mail,mobilePhone,department,jobTitle,accountEnabled,preferredLanguage' +
  '&$expand=manager($select=id)&$top=100';

const personioUrl = 'https://api.personio.de/v1/company/employees?limit=100&offset=0';

/** Returns a part of an address, encoded. */
const part = (text: string): string => encodeURIComponent(text.trim());

/** Returns the subdomain, also if someone has pasted the whole address. */
const companyIn = (text: string): string =>
  text
    .trim()
    .replace(/^https?:\/\//, '')
    .replace(/\.bamboohr\.com.*$/, '');

type Body = {
  name: string;
  source: PullSource;
  url: string;
  list: string;
  access: Access;
  repeat: Repeat;
  hour: number;
  weekday: number;
};

/** Returns the access of a kind, without the fields of the others. */
function accessOf(values: PullValues): Access {
  const { kind } = values;
  if (kind === 'header') return { kind, header: values['access/header'] };
  if (kind === 'basic') return { kind, user: values['access/user'] };
  if (kind !== 'oauth') return { kind };
  const more = (['scope', 'audience', 'resource'] as const).flatMap((name) =>
    values[`access/${name}`].trim() === '' ? [] : [[name, values[`access/${name}`]] as const],
  );
  return {
    kind,
    tokenUrl: values['access/tokenUrl'],
    clientId: values['access/clientId'],
    method: values['access/method'],
    ...Object.fromEntries(more),
  };
}

/** Returns the body of the request. `isNew`: the address and the access follow from the fields of the source. */
export function bodyOf(values: PullValues, isNew: boolean): Body {
  const { name, source, repeat } = values;
  const times = { repeat, hour: Number(values.hour), weekday: Number(values.weekday) };
  const preset = isNew ? presetOf(values) : undefined;
  const { url, list, access } = preset ?? { url: values.url, list: values.list, access: accessOf(values) };
  return { name, source, url, list, access, ...times };
}

function presetOf(values: PullValues): Pick<Body, 'url' | 'list' | 'access'> | undefined {
  const clientId = values['access/clientId'];
  switch (values.source) {
    case 'workday':
      return { url: values.url, list: '', access: { kind: 'basic', user: values['access/user'] } };
    case 'bamboohr': {
      const host = `https://${part(companyIn(values.company))}.bamboohr.com`;
      const url = `${host}/api/v1/reports/${part(values.report)}?format=JSON&onlyCurrent=true`;
      return { url, list: 'employees', access: { kind: 'key' } };
    }
    case 'personio': {
      const tokenUrl = 'https://api.personio.de/v2/auth/token';
      return {
        url: personioUrl,
        list: 'data',
        access: { kind: 'oauth', tokenUrl, clientId, method: 'post' },
      };
    }
    case 'graph': {
      const tokenUrl = `https://login.microsoftonline.com/${part(values.tenant)}/oauth2/v2.0/token`;
      const scope = 'https://graph.microsoft.com/.default';
      return {
        url: graphUrl,
        list: 'value',
        access: { kind: 'oauth', tokenUrl, clientId, scope, method: 'post' },
      };
    }
    case 'other':
      return undefined;
  }
}

/** Returns the input for a pull that exists. Its secret is never shown. */
export function valuesOf(pull: PullView): PullValues {
  const { name, source, url, list, access, repeat, hour, weekday } = pull;
  const texts = (['header', 'user', 'tokenUrl', 'clientId', 'scope', 'audience', 'resource'] as const).map(
    (field) => [`access/${field}`, access[field] ?? ''] as const,
  );
  return {
    ...emptyPull,
    ...Object.fromEntries(texts),
    name,
    source,
    url,
    list,
    repeat,
    kind: access.kind,
    'access/method': access.method ?? 'post',
    hour: String(hour),
    weekday: String(weekday),
  };
}
