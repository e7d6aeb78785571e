// Renders the emails about changes to a person's sign-in, and about new administrators and API tokens. Pure.
import { catalogue } from '../base/texts.ts';
import { inert } from '../base/visible-text.ts';
import { renderMail } from '../mail/template.ts';
import type { AccountNotice } from './noticed-changes.ts';
import type { Arguments } from './text/arguments.ts';
import de from './text/de/account-notices.json' with { type: 'json' };
import en from './text/en/account-notices.json' with { type: 'json' };
import sv from './text/sv/account-notices.json' with { type: 'json' };

const texts = catalogue<typeof en, Arguments['account-notices']>({ en, sv, de });

/**
 * Returns the email in the recipient's language, or in English if there are no texts in that language. `to`: as in noticedChanges.
 */
export function accountNoticeMail(
  {
    language,
    company: companyName,
    change,
    about,
    ...names
  }: Pick<AccountNotice, 'language' | 'company' | 'firstName' | 'change' | 'about'>,
  to: 'person' | 'administrators',
): { subject: string; text: string; html: string } {
  const t = texts.in(language);
  const company = inert(companyName, 80);
  const firstName = inert(names.firstName, 60);
  const mail = renderMail({
    language: texts.languageFor(language),
    about: company,
    tone: 'warn',
    title: firstName === '' ? t('greeting') : t('greetingNamed', { firstName }),
    blocks: [
      { kind: 'text', text: t(`change.${change}`, { about: inert(about ?? '', 200) }) },
      { kind: 'text', text: t('expected') },
      { kind: 'note', lead: t('unexpected.lead'), text: t('unexpected.text') },
    ],
    footer: [t('why', { company })],
  });
  return { subject: t(`subject.${to}`, { company }), ...mail };
}
