// What every results page loads first, and what is shown instead of the page when there are no results yet.
import type { ResultsStart } from '@soundings/contract/console/results/results.ts';
import { EyeOff, Waves } from 'lucide-react';
import type { ReactNode } from 'react';
import { useData } from '../../hooks/data.ts';
import { hasRole } from '@soundings/contract/people/roles.ts';
import { useSession } from '../../session.tsx';
import { useLanguage, useText } from '../../text/text.tsx';
import { useWeekText } from '../../text/weeks.ts';
import { Empty } from '../../ui/page/Empty.tsx';
import { Page } from '../../ui/page/Page.tsx';
import { Loaded } from '../../ui/page/States.tsx';
import { StartSteps } from './start/StartSteps.tsx';

/** Loads what every results page needs first. Without a group or a week, shows what to do instead. */
export function Started({
  title,
  children,
}: {
  title: string;
  children: (start: ResultsStart & { group: NonNullable<ResultsStart['group']> }) => ReactNode;
}) {
  const t = useText();
  const language = useLanguage();
  const start = useData('GET /results', { query: { language } });
  const isAdministrator = hasRole(useSession().user, 'Administrator');
  const { sentence } = useWeekText();
  if (start.data?.group && start.data.weeks.length > 0)
    return children({ ...start.data, group: start.data.group });
  return (
    <Page title={title}>
      <Loaded response={start}>
        {(read) =>
          isAdministrator ? (
            <StartSteps />
          ) : read.group ? (
            <Empty
              icon={Waves}
              title={t('results.noneYet')}
              text={
                read.running
                  ? t('results.firstRuns', { week: sentence(read.running, read.running) })
                  : t('results.noneYetText')
              }
            />
          ) : (
            <Empty icon={EyeOff} title={t('results.noGroup')} text={t('results.noGroupText')} />
          )
        }
      </Loaded>
    </Page>
  );
}
