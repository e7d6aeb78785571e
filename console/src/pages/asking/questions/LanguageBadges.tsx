// The languages of a question as small badges, which also mark incomplete and missing translations. Many languages are one badge.
import type { LibraryQuestion } from '@soundings/contract/console/asking.ts';
import { useText } from '../../../text/text.tsx';
import { cx } from '../../../ui/cx.ts';
import css from '../asking.module.css';
import { useLanguageNames } from '../../../text/languages.ts';

/** How many badges fit in a row of the table. */
const mostBadges = 4;

/** `wanted`: languages to show even if the translation is missing. */
export function LanguageBadges({
  question: { languages, partly },
  wanted,
}: {
  question: Pick<LibraryQuestion, 'languages' | 'partly'>;
  wanted: string[];
}) {
  const t = useText();
  const { nameOf } = useLanguageNames();
  const names = languages.map(nameOf).join(', ');
  const missing = wanted.filter((code) => !languages.includes(code) && !partly.includes(code));
  const badge = (state: 'whole' | 'partly' | 'missing') => (code: string) => {
    const label = t(`asking.language.${state}`, { language: nameOf(code) });
    return (
      <li key={code} className={cx(css['language'], css[state])} title={label}>
        <span aria-hidden>{code}</span>
        <span className="visually-hidden">{label}</span>
      </li>
    );
  };
  return (
    <ul className={css['badges']}>
      {languages.length > mostBadges ? (
        <li className={cx(css['language'], css['whole'], css['count'])} title={names}>
          <span aria-hidden>{t('asking.language.many', { count: languages.length })}</span>
          <span className="visually-hidden">{names}</span>
        </li>
      ) : (
        languages.map(badge('whole'))
      )}
      {partly.map(badge('partly'))}
      {missing.map(badge('missing'))}
    </ul>
  );
}
