// What a test of the email settings finds, step by step. The console and the soundings command show the same findings. Pure.
import type { Arguments } from '../text/arguments.ts';
import type mail from '../text/en/mail.json';
import type { Translate } from '../texts.ts';

/** The texts of the findings, and the arguments of those that have any. */
export type MailTextKey = keyof typeof mail;
export type MailArguments = Arguments['mail'];

type Named<Prefix extends string> = MailTextKey extends infer Key
  ? Key extends `mailCheck.${Prefix}${infer Name}`
    ? Name
    : never
  : never;

/** A step of the test: connecting to the mail server and giving it an email, then the DNS records of the sender's domain. */
export type MailStep = Named<'step.'>;
/** `note`: emails are sent, but something should be improved or can't be checked. `problem`: emails are refused or lost. */
export type MailOutcome = Named<'outcome.'>;
type Code = Exclude<Named<''>, `step.${string}` | `outcome.${string}`>;

/** A finding: its code, and the values that its text names. */
export type MailFinding = {
  [C in Code]: {
    step: MailStep;
    outcome: MailOutcome;
    code: C;
    values: `mailCheck.${C}` extends keyof MailArguments
      ? MailArguments[`mailCheck.${C}`]
      : Record<string, never>;
  };
}[Code];

/** Returns what was found, with the remedy. */
export function findingText({ code, values }: MailFinding, t: Translate<MailTextKey, MailArguments>): string {
  return (t as (key: MailTextKey, values: object) => string)(`mailCheck.${code}`, values);
}

/** Whether email that is sent with these settings is refused or lost. */
export const hasProblem = (findings: MailFinding[]): boolean =>
  findings.some(({ outcome }) => outcome === 'problem');
