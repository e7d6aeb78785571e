// What soundings doctor finds: one line for each fact that an operator can act on. Pure.

/** The checks, in the order in which they are printed. */
export const checkNames = [
  'settings',
  'database',
  'clock',
  'disk',
  'keys',
  'certificate',
  'proxy',
  'mail',
  'sftp',
  'traces',
  'jobs',
  'backup',
] as const;

export type CheckName = (typeof checkNames)[number];

/** `warning`: the service runs, but something should be improved or can't be checked. `problem`: something doesn't work. */
export type Outcome = 'ok' | 'warning' | 'problem';

/** `code`: what was found, for programs. `text`: the same for people, with the remedy. */
export type Finding = { check: CheckName; outcome: Outcome; code: string; text: string };

/** Returns three functions, each of which creates a finding of a check with one outcome. */
export const reportOn = (check: CheckName) => {
  const as = (outcome: Outcome) => (code: string, text: string) => ({ check, outcome, code, text });
  return { ok: as('ok'), warning: as('warning'), problem: as('problem') };
};

/** Returns a finding in which no secret appears, neither as it is nor escaped as in a URL. */
export function redacted(found: Finding, secrets: readonly string[]): Finding {
  const texts = secrets
    .flatMap((one) => (one.length >= 3 ? [one, encodeURIComponent(one)] : []))
    .toSorted((a, b) => b.length - a.length);
  return { ...found, text: texts.reduce((text, secret) => text.replaceAll(secret, '…'), found.text) };
}

/** Returns the password of an address, decoded and as it is written. */
export function passwordsIn(address: string | undefined): string[] {
  const { password = '' } = (address !== undefined && URL.parse(address)) || {};
  if (password === '') return [];
  try {
    return [password, decodeURIComponent(password)];
  } catch {
    return [password];
  }
}

/** Returns a duration such as "3 hours", rounded down. */
export function durationText(seconds: number): string {
  const units = [
    [86_400, 'day'],
    [3600, 'hour'],
    [60, 'minute'],
    [1, 'second'],
  ] as const;
  const [size, name] = units.find(([unit]) => seconds >= unit) ?? [1, 'second'];
  const count = Math.floor(seconds / size);
  return withNoun(count, name);
}

/** Returns a number with its noun, such as "1 job" and "2 jobs". */
export const withNoun = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;
