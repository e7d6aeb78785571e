// Creates the findings of a test of the email settings, and the error that ends a series of steps. Pure.
import type { MailFinding, MailOutcome, MailStep } from '@soundings/contract/console/mail-findings.ts';

type Values<C extends MailFinding['code']> = Extract<MailFinding, { code: C }>['values'];

/** Returns a finding. */
export function finding<C extends MailFinding['code']>(
  step: MailStep,
  outcome: MailOutcome,
  code: C,
  ...[values]: Values<C> extends Record<string, never> ? [] : [values: Values<C>]
): MailFinding {
  return { step, outcome, code, values: values ?? {} } as unknown as MailFinding;
}

/** A step failed, so the following steps can't be tried. */
export class StepFailed extends Error {
  override readonly name = 'StepFailed';
  readonly finding: MailFinding;
  constructor(found: MailFinding) {
    super(found.code);
    this.finding = found;
  }
}

/** Returns the error for a problem that ends a series of steps. */
export const problemAt = <C extends MailFinding['code']>(
  step: MailStep,
  code: C,
  ...values: Values<C> extends Record<string, never> ? [] : [values: Values<C>]
): StepFailed => new StepFailed(finding(step, 'problem', code, ...values));
