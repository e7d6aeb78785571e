// Comments by question: each question is shown once, with its comments below it by week. The parts that match the search are
// marked.
import type { FoundComment, FoundComments } from '@soundings/contract/console/results/comments.ts';
import { Link } from '@tanstack/react-router';
import { Fragment } from 'react';
import { useText } from '../../../text/text.tsx';
import { useWeekText } from '../../../text/weeks.ts';
import { Section } from '../../../ui/page/Section.tsx';
import page from './comments.module.css';
import { HandedOut } from '../HandedOut.tsx';
import css from '../results.module.css';

type CardsProps = {
  questions: FoundComments['questions'];
  /** The comments loaded so far, question by question. */
  comments: readonly FoundComment[];
  groupId: number;
};

export function CommentCards({ questions, comments, groupId }: CardsProps) {
  const t = useText();
  const totals = new Map(questions.map((question) => [question.id, question.comments]));
  const cards = [...Map.groupBy(comments, ({ questionId }) => questionId)];
  return cards.map(([id, own]) => (
    <Section
      key={id}
      title={own[0]!.question}
      description={t('results.commentsOf', { count: totals.get(id) ?? own.length })}
      actions={
        <Link
          className={page['cardLink']}
          to="/results/questions/$questionId"
          params={{ questionId: String(id) } as never}
          search={{ group: groupId, week: own[0]!.week } as never}
        >
          {t('results.seeResults')}
          <span className="visually-hidden">: {own[0]!.question}</span>
        </Link>
      }
    >
      <ByWeek comments={own} />
    </Section>
  ));
}

function ByWeek({ comments }: { comments: readonly FoundComment[] }) {
  const { full } = useWeekText();
  return [...Map.groupBy(comments, ({ week }) => week)].map(([week, own]) => (
    <div key={week} className={page['cardWeek']}>
      <h3 className={page['cardWeekName']}>
        {full(own[0]!)} {own[0]!.handedOut && <HandedOut />}
      </h3>
      <ul className={css['comments']}>
        {own.map(({ text, marks }, index) => (
          // oxlint-disable-next-line react/no-array-index-key -- comments have no id, so that they reveal nothing
          <li key={index} className={css['comment']}>
            <p className={css['commentText']} dir="auto">
              <Marked text={text} marks={marks} />
            </p>
          </li>
        ))}
      </ul>
    </div>
  ));
}

/** A text with ranges marked, as the service found them. */
function Marked({ text, marks }: Pick<FoundComment, 'text' | 'marks'>) {
  return (
    <>
      {marks.map(([first, end], i) => (
        <Fragment key={first}>
          {text.slice(marks[i - 1]?.[1] ?? 0, first)}
          <mark className={page['mark']}>{text.slice(first, end)}</mark>
        </Fragment>
      ))}
      {text.slice(marks.at(-1)?.[1] ?? 0)}
    </>
  );
}
