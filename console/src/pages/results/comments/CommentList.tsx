// Comments on the pages of a group and of a question.
import type { ResultComment } from '@soundings/contract/console/results/results.ts';
import { Link } from '@tanstack/react-router';
import { useWeekText } from '../../../text/weeks.ts';
import { HandedOut } from '../HandedOut.tsx';
import css from '../results.module.css';

/** A list of comments as written, each linked to the results of its question. */
export function CommentList({
  comments,
  groupId,
  hideWeek,
  hideQuestion,
}: {
  comments: readonly ResultComment[];
  groupId: number;
  /** Hides the week, if it is shown above the list. */
  hideWeek?: boolean;
  /** Hides the question and its link, on the page of the question. */
  hideQuestion?: boolean;
}) {
  return (
    <ul className={css['comments']}>
      {comments.map((comment, index) => (
        // oxlint-disable-next-line react/no-array-index-key -- comments have no id, so that they reveal nothing
        <li key={`${comment.week} ${comment.questionId} ${index}`} className={css['comment']}>
          <p className={css['commentText']} dir="auto">
            {comment.text}
          </p>
          {!(hideWeek && hideQuestion && !comment.handedOut) && (
            <p className={css['commentSource']}>
              {!hideWeek && <CommentWeek comment={comment} />}
              {!hideQuestion && (
                <Link
                  to="/results/questions/$questionId"
                  params={{ questionId: String(comment.questionId) } as never}
                  search={{ group: groupId, week: comment.week } as never}
                >
                  {comment.question}
                </Link>
              )}{' '}
              {comment.handedOut && <HandedOut />}
            </p>
          )}
        </li>
      ))}
    </ul>
  );
}

function CommentWeek({ comment }: { comment: ResultComment }) {
  const { full } = useWeekText();
  return `${full(comment)} · `;
}
