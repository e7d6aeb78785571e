// A small static preview of a question as the answering page shows it, in its own language.
import type { AnsweringPageTexts } from '@soundings/contract/console/asking.ts';
import {
  freeText,
  isChoice,
  multipleChoice,
  type QuestionType,
  scaleOf,
  yesNo,
} from '@soundings/contract/question-types.ts';
import { writingDirectionOf } from '@soundings/contract/texts.ts';
import css from './QuestionPreview.module.css';

export type Previewed = {
  type: QuestionType;
  text: string;
  options: { id: string; text: string }[];
  allowsNotApplicable: boolean;
};

type PreviewProps = { question: Previewed; language: string; texts: AnsweringPageTexts; place?: string };

export function QuestionPreview({ question, language, texts, place }: PreviewProps) {
  return (
    <div className={css['card']} lang={language} dir={writingDirectionOf(language)}>
      {place && <p className={css['place']}>{place}</p>}
      <p className={css['text']}>{question.text || '…'}</p>
      <Answers {...question} texts={texts} />
      {question.allowsNotApplicable && (
        <ul className={css['none']}>
          <li className={css['row']}>
            <span className={question.type === multipleChoice ? css['box'] : css['dot']} />
            {texts.notApplicable}
          </li>
        </ul>
      )}
      {question.type === freeText ? (
        <>
          <div className={css['area']} />
          <p className={css['hint']}>{texts.commentHint}</p>
        </>
      ) : null}
      <div className={css['more']}>
        <span>{question.type !== freeText && texts.addComment}</span>
        <span className={css['skip']}>
          <span className={css['box']} />
          {texts.skip}
        </span>
      </div>
    </div>
  );
}

function Answers({ type, options, texts }: Previewed & { texts: AnsweringPageTexts }) {
  const scale = texts.scales[String(type)] ?? [];
  if (scaleOf(type)?.labels === 'ends') return <Numbers scale={scale} />;
  const rows = isChoice(type)
    ? options.map(({ id, text }) => ({ key: id, text }))
    : scale.map(({ value, text }) => ({ key: String(value), text }));
  if (rows.length === 0) return null;
  return (
    <ul className={type === yesNo ? css['two'] : css['rows']}>
      {rows.map(({ key, text }, i) => (
        // oxlint-disable-next-line react/no-array-index-key -- in a draft, two options may have the same id
        <li key={`${key} ${i}`} className={css['row']}>
          <span className={type === multipleChoice ? css['box'] : css['dot']} />
          {text || '…'}
        </li>
      ))}
    </ul>
  );
}

function Numbers({ scale }: { scale: { value: number; text: string }[] }) {
  const [low, high] = [scale[0], scale.at(-1)];
  if (!low || !high) return null;
  return (
    <div>
      <ul className={css['numbers']}>
        {Array.from({ length: high.value - low.value + 1 }, (_, i) => (
          <li key={i} className={css['number']}>
            {low.value + i}
          </li>
        ))}
      </ul>
      <p className={css['ends']}>
        <span>{low.text}</span>
        <span>{high.text}</span>
      </p>
    </div>
  );
}
