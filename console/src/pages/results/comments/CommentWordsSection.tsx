// The words that stand out in a group's comments, each a filter, with an explanation of how they are chosen.
import type { CommentWord, CommentWords } from '@soundings/contract/console/results/comments.ts';
import { X } from 'lucide-react';
import { useData } from '../../../hooks/data.ts';
import { useFormat, useLanguage, useText } from '../../../text/text.tsx';
import { useWeekText } from '../../../text/weeks.ts';
import { Button } from '../../../ui/Button.tsx';
import { Popover } from '../../../ui/floating/Popover.tsx';
import { Section } from '../../../ui/page/Section.tsx';
import { Bar, Failed } from '../../../ui/page/States.tsx';
import page from './comments.module.css';
import css from '../results.module.css';

type WordsProps = {
  scope: { groupId: string; questionId: string | undefined; week: string | undefined };
  /** The word that the comments are filtered by. */
  chosen: string | undefined;
  onChoose: (word: string | undefined) => void;
  /** Whether the caller can choose another group. */
  hasGroups: boolean;
};

export function CommentWordsSection({ scope, chosen, onChoose, hasGroups }: WordsProps) {
  const t = useText();
  const language = useLanguage();
  const { sentence } = useWeekText();
  const words = useData('GET /results/comments/words', { query: { ...scope, language } } as never);
  if (words.data?.state === 'company' && !hasGroups && chosen === undefined) return null;
  const weeks = words.data?.weeks;
  return (
    <Section
      title={t('results.words')}
      description={
        weeks
          ? t('results.wordsCompared', { first: sentence(weeks.first), last: sentence(weeks.last) })
          : t('results.wordsComparedShort')
      }
      actions={<How words={words.data?.words ?? []} />}
    >
      {words.data ? (
        <Chips read={words.data} chosen={chosen} onChoose={onChoose} />
      ) : words.error ? (
        <Failed error={words.error} onRetry={() => void words.refetch()} />
      ) : (
        <div className={page['wordsWait']}>
          <Bar width={40} />
        </div>
      )}
    </Section>
  );
}

type ChipsProps = {
  read: CommentWords;
  chosen: string | undefined;
  onChoose: (word: string | undefined) => void;
};

/** The words as buttons. A chosen word stays, even if it does not stand out in another group or week. */
function Chips({ read: { state, words }, chosen, onChoose }: ChipsProps) {
  const t = useText();
  const isListed = words.some(({ word }) => word === chosen);
  return (
    <>
      {(words.length > 0 || (chosen !== undefined && !isListed)) && (
        <ul className={css['chips']}>
          {chosen !== undefined && !isListed && (
            <li>
              <button type="button" className={page['word']} aria-pressed onClick={() => onChoose(undefined)}>
                {chosen}
                <X aria-hidden size={14} />
              </button>
            </li>
          )}
          {words.map(({ word, text, language }) => (
            <li key={`${language} ${word}`}>
              <button
                type="button"
                className={page['word']}
                aria-pressed={word === chosen}
                onClick={() => onChoose(word === chosen ? undefined : word)}
              >
                <span lang={language}>{text}</span>
                {word === chosen && <X aria-hidden size={14} />}
              </button>
            </li>
          ))}
        </ul>
      )}
      {words.length === 0 && (
        <p className={css['soft']}>
          {state === 'company'
            ? t('results.wordsCompany')
            : state === 'few'
              ? t('results.wordsFew', { fewest: 10 })
              : t('results.wordsNone')}
        </p>
      )}
    </>
  );
}

/** How the words are chosen, with the numbers behind each. */
function How({ words }: { words: readonly CommentWord[] }) {
  const t = useText();
  const { number } = useFormat();
  const hasElsewhere = words.some(({ elsewhere }) => elsewhere !== null);
  const share = ({ comments, of }: { comments: number; of: number }) =>
    t('results.wordShare', { number: number(comments), of: number(of) });
  return (
    <Popover
      trigger={<Button kind="quiet">{t('results.wordsHow')}</Button>}
      title={t('results.wordsHow')}
      align="end"
    >
      <div className={page['how']}>
        <p>{t('results.wordsHowText')}</p>
        <p>{t('results.wordsHowLimits')}</p>
        {words.length > 0 && (
          <table className={page['howTable']}>
            <thead>
              <tr>
                <th scope="col">{t('results.word')}</th>
                <th scope="col">{t('results.wordIn')}</th>
                {hasElsewhere && <th scope="col">{t('results.wordElsewhere')}</th>}
              </tr>
            </thead>
            <tbody>
              {words.map((word) => (
                <tr key={`${word.language} ${word.word}`}>
                  <th scope="row" lang={word.language}>
                    {word.text}
                  </th>
                  <td>{share(word)}</td>
                  {hasElsewhere && <td>{word.elsewhere && share(word.elsewhere)}</td>}
                </tr>
              ))}
            </tbody>
          </table>
        )}
        <p className={css['soft']}>
          {t('results.wordsHowMore', { file: 'docs/administrators/comments.md' })}
        </p>
      </div>
    </Popover>
  );
}
