// A list of questions, each a link to its page.
import type { QuestionTexts } from '@soundings/contract/console/asking.ts';
import { Link } from '@tanstack/react-router';
import { useText } from '../../../text/text.tsx';
import css from '../asking.module.css';
import { useQuestionText } from '../texts.ts';

export function QuestionList({ questions }: { questions: QuestionTexts[] }) {
  const t = useText();
  const textOf = useQuestionText();
  if (questions.length === 0) return <p className={css['soft']}>{t('asking.noQuestions')}</p>;
  return (
    <ul className={css['list']}>
      {questions.map((question) => (
        <li key={question.id} className={css['line']}>
          <Link className={css['plainLink']} to={`/questions/${question.id}`}>
            {textOf(question)}
          </Link>
          <span className={css['end']}>
            {question.isRetired ? t('asking.retired') : t(`questionType.${question.type}`)}
          </span>
        </li>
      ))}
    </ul>
  );
}
