// Renders the email that contains a link for setting a password. Pure.
import { catalogue } from '../base/texts.ts';
import { inert } from '../base/visible-text.ts';
import { renderMail } from '../mail/template.ts';
import type { Arguments } from './text/arguments.ts';
import en from './text/en/sign-in-links.json' with { type: 'json' };
import sv from './text/sv/sign-in-links.json' with { type: 'json' };

const texts = catalogue<typeof en, Arguments['sign-in-links']>({ en, sv });

/** Returns the email in the recipient's language, or in English if there are no texts in it. */
export function signInMail(
  {
    kind,
    hours,
    language,
    company: companyName,
    ...names
  }: {
    kind: 'forgotten' | 'given' | 'reminded';
    hours: number;
    language: string;
    company: string;
    firstName: string;
  },
  address: string,
): { subject: string; text: string; html: string } {
  const t = texts.in(language);
  const company = inert(companyName, 80);
  const firstName = inert(names.firstName, 60);
  const isInDays = hours % 24 === 0 && hours > 24;
  const mail = renderMail({
    language: texts.languageFor(language),
    about: company,
    tone: 'plain',
    title: firstName === '' ? t('greeting') : t('greetingNamed', { firstName }),
    blocks: [
      { kind: 'text', text: t(kind, { company }) },
      { kind: 'button', text: t('button'), address, hint: t('hint') },
      {
        kind: 'note',
        lead: t('once'),
        text: isInDays ? t('days', { days: hours / 24 }) : t('hours', { hours }),
      },
      ...(kind === 'forgotten' ? [{ kind: 'text' as const, text: t('notYou') }] : []),
    ],
    footer: [t('why', { company })],
  });
  return { subject: t('subject', { company }), ...mail };
}
