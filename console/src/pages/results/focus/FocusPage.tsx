// What a group works on: its open focuses with their check-ins, and those that are done or stopped. Administrators also see how many
// groups have one.
import type { FocusCounts, GroupFocus } from '@soundings/contract/console/focus.ts';
import type { ResultsStart } from '@soundings/contract/console/results/results.ts';
import { maxOpenFocuses } from '@soundings/contract/limits.ts';
import { hasRole } from '@soundings/contract/people/roles.ts';
import { Plus, Target } from 'lucide-react';
import { useState } from 'react';
import { useAddress, useData } from '../../../hooks/data.ts';
import { useSession } from '../../../session.tsx';
import { useFormat, useText } from '../../../text/text.tsx';
import { Button } from '../../../ui/Button.tsx';
import { DescriptionList } from '../../../ui/page/DescriptionList.tsx';
import { Empty } from '../../../ui/page/Empty.tsx';
import { GroupFilter } from '../GroupFilter.tsx';
import { Page } from '../../../ui/page/Page.tsx';
import { Section } from '../../../ui/page/Section.tsx';
import { Loaded } from '../../../ui/page/States.tsx';
import { Started } from '../Started.tsx';
import { FocusCard } from './FocusCard.tsx';
import { FocusDialog } from './FocusDialog.tsx';
import { openFocuses, useGroupFocus } from './focus-data.ts';
import css from './focus.module.css';

export function FocusPage() {
  const t = useText();
  return <Started title={t('nav.focus')}>{(start) => <Chosen start={start} />}</Started>;
}

function Chosen({ start }: { start: ResultsStart & { group: { id: number; name: string } } }) {
  const t = useText();
  const [{ group = String(start.group.id) }, setAddress] = useAddress<'group'>();
  const response = useGroupFocus(group);
  const isAdministrator = hasRole(useSession().user, 'Administrator');
  const [isAdding, setIsAdding] = useState(false);
  const { data } = response;
  const canAdd = data?.canEdit === true && openFocuses(data).length < maxOpenFocuses;
  return (
    <Page
      title={data ? t('focus.of', { group: data.group.name }) : t('nav.focus')}
      waits={!data}
      subtitle={t('focus.subtitle')}
      actions={
        <>
          <GroupFilter among={start.groups} group={group} onChange={(id) => setAddress({ group: id })} />
          {canAdd && (
            <Button kind="primary" icon={Plus} onClick={() => setIsAdding(true)}>
              {t('focus.add')}
            </Button>
          )}
        </>
      }
    >
      <Loaded response={response}>{(read) => <Content data={read} onAdd={() => setIsAdding(true)} />}</Loaded>
      {isAdministrator && <Counts />}
      {isAdding && data && <FocusDialog data={data} onClose={() => setIsAdding(false)} />}
    </Page>
  );
}

function Content({ data, onAdd }: { data: GroupFocus; onAdd: () => void }) {
  const t = useText();
  const open = openFocuses(data);
  const closed = data.focuses.filter(({ state }) => state !== 'open');
  return (
    <>
      {open.length === 0 ? (
        <Empty
          icon={Target}
          title={t('focus.none')}
          text={t(data.canEdit ? 'focus.noneText' : 'focus.noneReader')}
          action={
            data.canEdit && (
              <Button kind="primary" icon={Plus} onClick={onAdd}>
                {t('focus.add')}
              </Button>
            )
          }
        />
      ) : (
        <Section title={t('focus.openTitle')}>
          <ul className={css['cards']}>
            {open.map((focus) => (
              <FocusCard key={focus.id} focus={focus} data={data} />
            ))}
          </ul>
        </Section>
      )}
      {closed.length > 0 && (
        <Section title={t('focus.closedTitle')}>
          <ul className={css['cards']}>
            {closed.map((focus) => (
              <FocusCard key={focus.id} focus={focus} data={data} />
            ))}
          </ul>
        </Section>
      )}
    </>
  );
}

/** How many groups have a focus, and what their last check-ins say. Names no group. */
function Counts() {
  const t = useText();
  const { number } = useFormat();
  const response = useData('GET /focus');
  const items = (counts: FocusCounts): [string, string][] => [
    [
      t('focus.count.groups'),
      t('focus.count.groupsOf', { count: counts.withFocus, groups: number(counts.groups) }),
    ],
    [t('focus.count.onTrack'), number(counts.onTrack)],
    [t('focus.count.needsHelp'), number(counts.needsHelp)],
    [t('focus.count.notChecked'), number(counts.notChecked)],
    [t('focus.count.due'), number(counts.due)],
    [t('focus.count.done'), number(counts.done)],
    [t('focus.count.stopped'), number(counts.stopped)],
  ];
  return (
    <Section title={t('focus.count.title')} description={t('focus.count.text')}>
      <Loaded response={response}>{(counts) => <DescriptionList items={items(counts)} />}</Loaded>
    </Section>
  );
}
