// The findings at the top of the overview: up to three sentences, each linked to its evidence.
import type { GroupResults } from '@soundings/contract/console/results/results.ts';
import { Link } from '@tanstack/react-router';
import { ArrowRight } from 'lucide-react';
import { useLanguage, useText } from '../../../text/text.tsx';
import { Section } from '../../../ui/page/Section.tsx';
import { ClearHelp } from '../clear.tsx';
import { directionOf, lastRolling } from '../figures.ts';
import { findingTexts } from './findings.ts';
import { HandedOut } from '../HandedOut.tsx';
import { useSince } from '../texts.ts';
import css from '../results.module.css';

export function Findings({ results }: { results: GroupResults }) {
  const t = useText();
  const language = useLanguage();
  const sinceText = useSince(results.weeks.at(-1));
  const shown = findingTexts(results.findings, results, { t, language, sinceText });
  const changes = results.kpis.flatMap(({ rolling }) => lastRolling(rolling)?.change ?? []);
  const isCalm = changes.length > 0 && changes.every((change) => !directionOf(change));
  return (
    <Section title={t('results.findings')} actions={<ClearHelp />}>
      <ul className={css['findings']}>
        {isCalm && <li>{t('results.noClearKpi')}</li>}
        {shown.map(({ key, text, handedOut, to, params, search }) => (
          <li key={key}>
            <Link className={css['plain']} to={to} params={params as never} search={search as never}>
              {text} <ArrowRight aria-hidden size={15} strokeWidth={1.75} />
            </Link>
            {handedOut && <HandedOut />}
          </li>
        ))}
      </ul>
    </Section>
  );
}
