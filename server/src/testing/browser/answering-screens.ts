// The pages on which people answer, of which `npm run screens` takes pictures (screens.ts).
import type { Page } from 'playwright-core';
import { answeringLanguages } from '../../languages/languages.ts';
import type { Screen } from './screen-list.ts';

const onlyPhone = ['phone', 'phone-dark'] as const;

/** Pages that people open without an account. */
export const answering: Screen[] = [
  {
    name: 'answering',
    title: 'Answering page',
    description: 'One question at a time, without an account.',
    path: '/a/$link',
    kinds: [...onlyPhone, 'light'],
  },
  {
    name: 'answering-all',
    title: 'All questions',
    description: 'All questions on one page, with “not applicable” where it is allowed.',
    path: '/a/$link?saved',
    kinds: onlyPhone,
    first: (page) =>
      page.evaluate(
        "document.querySelector('[data-none]')?.closest('fieldset').scrollIntoView({ block: 'center' })",
      ),
  },
  {
    name: 'thanks',
    title: 'Thank-you page',
    description: 'What happens with the answers, and how long they can be changed.',
    path: '/a/$thanksLink',
    kinds: onlyPhone,
    first: answerAll,
  },
  {
    name: 'go',
    title: 'Entering a code',
    description: 'For the code on a printed card.',
    path: '/go',
    kinds: onlyPhone,
  },
  {
    name: 'kiosk',
    title: 'Kiosk',
    description: 'A shared device on which people answer one after the other, with their cards.',
    path: '/k/$kiosk',
  },
];

const ownName = (language: string) =>
  new Intl.DisplayNames(language, { type: 'language' }).of(language) as string;
const englishNames = new Intl.DisplayNames('en', { type: 'language' });

/** The questions in each language but English. The page is written from right to left in Arabic, which has pictures in both themes. */
export const languages: Screen[] = answeringLanguages.codes.slice(1).map((code) => ({
  name: `answering-${code}`,
  title: `${englishNames.of(code)}`,
  description: ownName(code),
  path: `/a/$link?language=${code}`,
  kinds: code === 'ar' ? onlyPhone : ['phone'],
}));

/** Chooses the fourth option of each question, and sends the form as a browser without JavaScript does. */
async function answerAll(page: Page): Promise<void> {
  await page.evaluate(`(async () => {
    const form = new URLSearchParams();
    for (const group of document.querySelectorAll('fieldset')) {
      const option = group.querySelectorAll('input[type=radio]')[3];
      if (option) form.append(option.name, option.value);
    }
    await fetch(location.pathname, { method: 'POST', body: form });
  })()`);
  await page.goto(`${new URL(page.url()).pathname}?saved`);
}
