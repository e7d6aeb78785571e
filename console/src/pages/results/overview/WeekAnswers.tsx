// The answers of a group's last week: the distribution for each question, linked to the page of the question.
import type { GroupResults, ResultWeek } from '@soundings/contract/console/results/results.ts';
import { freeText, isChoice, singleChoice } from '@soundings/contract/question-types.ts';
import { Link } from '@tanstack/react-router';
import { useFormat, useText } from '../../../text/text.tsx';
import { useWeekText } from '../../../text/weeks.ts';
import { StackedBar } from '../../../ui/charts/StackedBar.tsx';
import { Section } from '../../../ui/page/Section.tsx';
import { ChangeMark } from '../clear.tsx';
import { barPartsOf, score } from '../figures.ts';
import { HandedOut } from '../HandedOut.tsx';
import { useNotApplicable, useSince, useWithheldText } from '../texts.ts';
import css from '../results.module.css';

type Asked = NonNullable<GroupResults['last']>['questions'][number];

export function WeekAnswers({ results: { last, group, weeks } }: { results: GroupResults }) {
  const t = useText();
  const { sentence } = useWeekText();
  const since = useSince(weeks.at(-1));
  if (!last) return <div />;
  return (
    <Section
      title={t('results.answersOf', { week: sentence(last.week, weeks.at(-1)) })}
      description={t('results.distributionHelp')}
    >
      <ul className={css['asked']}>
        {last.questions.map((question) => (
          <li key={question.id}>
            <p className={css['askedHead']}>
              <Link
                className={css['plain']}
                to="/results/questions/$questionId"
                params={{ questionId: String(question.id) } as never}
                search={{ group: group.id } as never}
              >
                {question.text}
              </Link>
              {question.handedOut && <HandedOut />}
              {question.value !== null && (
                <span className={css['askedScore']}>
                  {question.change && (
                    <ChangeMark
                      brief
                      change={question.change}
                      since={since(question.change)}
                      isMarked={question.handedOut}
                    />
                  )}
                  <b>{score(question.value)}</b>
                </span>
              )}
            </p>
            <AnswerDistribution question={question} week={last.week} people={group.people} />
            <NotApplicable question={question} />
          </li>
        ))}
      </ul>
    </Section>
  );
}

function AnswerDistribution({
  question,
  week,
  people,
}: {
  question: Asked;
  week: ResultWeek;
  people: number;
}) {
  const t = useText();
  const withheld = useWithheldText();
  const { type, text, distribution, answers } = question;
  if (answers === null) return <HiddenBar text={withheld.figure(week, people)} />;
  if (type === freeText) return <p className={css['soft']}>{t('results.answers', { count: answers })}</p>;
  if (!distribution)
    return (
      <HiddenBar text={t('results.distributionWithheld', { reason: withheld.distribution(week, answers) })} />
    );
  if (isChoice(type)) return <MostChosen question={question} answers={answers} />;
  const labels = {
    detractors: t('results.detractors'),
    passives: t('results.passives'),
    promoters: t('results.promoters'),
  };
  return <StackedBar label={text} parts={barPartsOf(type, question.scale, distribution, labels)} />;
}

/** How many people chose "not applicable", if anyone did and it isn't withheld. */
function NotApplicable({ question: { notApplicable } }: { question: Asked }) {
  const t = useText();
  const shareOf = useNotApplicable();
  if (notApplicable === null || notApplicable.count === 0) return null;
  return (
    <p className={css['askedNote']}>
      {t('results.notApplicable')}: {shareOf(notApplicable)}
    </p>
  );
}

const HiddenBar = ({ text }: { text: string }) => (
  <p className={css['hiddenBar']}>
    <span>{text}</span>
  </p>
);

/** The most frequent options of a choice question. */
function MostChosen({ question, answers }: { question: Asked; answers: number }) {
  const { percent } = useFormat();
  const given =
    question.type === singleChoice
      ? (question.distribution ?? []).reduce((sum, { count }) => sum + count, 0)
      : answers;
  const top = (question.distribution ?? []).toSorted((a, b) => b.count - a.count).slice(0, 3);
  return (
    <ol className={css['most']}>
      {top
        .filter(({ count }) => count > 0)
        .map(({ key, count }) => (
          <li key={key}>
            {question.options.find(({ id }) => id === key)?.text ?? key}{' '}
            <b>{percent(Math.min(1, count / Math.max(1, given)))}</b>
          </li>
        ))}
    </ol>
  );
}
