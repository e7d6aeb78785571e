// What pushes and files have changed for a person: each field before and after.
import type { Person, PersonRun } from '@soundings/contract/console/people.ts';
import { Link } from '@tanstack/react-router';
import { useFormat, useText } from '../../text/text.tsx';
import { useFieldText, useValueText } from '../../ui/changes.ts';
import { Section } from '../../ui/page/Section.tsx';
import css from './people.module.css';

export function PersonRuns({ person: { runs, externalId } }: { person: Person }) {
  const t = useText();
  if (externalId === null) return null;
  return (
    <Section title={t('people.runs')} description={t('people.runsText')}>
      {runs.length === 0 ? (
        <p className={css['none']}>{t('people.noRuns')}</p>
      ) : (
        <ol className={css['runs']}>
          {runs.map((run) => (
            <li key={run.runId}>
              <Run run={run} />
            </li>
          ))}
        </ol>
      )}
    </Section>
  );
}

function Run({ run: { runId, at, source, file, fields } }: { run: PersonRun }) {
  const t = useText();
  const { time } = useFormat();
  const fieldTextOf = useFieldText();
  const valueTextOf = useValueText();
  return (
    <>
      <p className={css['run']}>
        <Link to={`/runs/${runId}`}>{time(at)}</Link>
        <span className={css['soft']}>
          {source === 'file' ? t('people.byFile', { file: file ?? '' }) : t('people.byPush')}
        </span>
      </p>
      <dl className={css['changes']}>
        {Object.entries(fields).map(([name, { from, to }]) => (
          <div key={name}>
            <dt>{fieldTextOf(name)}</dt>
            <dd>
              <del>
                <span className="visually-hidden">{t('people.before')} </span>
                {valueTextOf(from)}
              </del>{' '}
              <span aria-hidden>→</span>{' '}
              <ins>
                <span className="visually-hidden">{t('people.after')} </span>
                {valueTextOf(to)}
              </ins>
            </dd>
          </div>
        ))}
      </dl>
    </>
  );
}
