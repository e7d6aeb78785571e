// Renders the email with which administrators test that email reaches them. Pure.
import { catalogue } from '../base/texts.ts';
import { inert } from '../base/visible-text.ts';
import { renderMail } from './template.ts';
import de from './text/de/test-mail.json' with { type: 'json' };
import en from './text/en/test-mail.json' with { type: 'json' };
import sv from './text/sv/test-mail.json' with { type: 'json' };

const texts = catalogue<typeof en, Record<never, never>>({ en, sv, de });

/** Returns the email in a language, or in English if there are no texts in this language. `company`: the name of the account. */
export function testMail(language: string, company: string): { subject: string; text: string; html: string } {
  const t = texts.in(language);
  const mail = renderMail({
    language: texts.languageFor(language),
    about: inert(company, 80),
    tone: 'good',
    title: t('title'),
    blocks: [{ kind: 'text', text: t('text') }],
    footer: [],
  });
  return { subject: t('title'), ...mail };
}
