// A group: its details, people, subgroups and actions.
import type { GroupDetails } from '@soundings/contract/console/groups.ts';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { Pencil, Plus } from 'lucide-react';
import { Fragment, type ReactNode, useMemo, useState } from 'react';
import { useData } from '../../hooks/data.ts';
import { hasRole } from '@soundings/contract/people/roles.ts';
import { useSession } from '../../session.tsx';
import { useFormat, useText } from '../../text/text.tsx';
import { Badge } from '../../ui/Badge.tsx';
import { Button, LinkButton } from '../../ui/Button.tsx';
import { Copy } from '../../ui/Copy.tsx';
import { DescriptionList } from '../../ui/page/DescriptionList.tsx';
import { Locked } from '../../ui/Locked.tsx';
import { Menu } from '../../ui/floating/Menu.tsx';
import { Page } from '../../ui/page/Page.tsx';
import { Section } from '../../ui/page/Section.tsx';
import { Loaded, Skeleton } from '../../ui/page/States.tsx';
import { DataTable } from '../../ui/table/DataTable.tsx';
import { GroupDialogs, type OpenGroupDialog } from './GroupDialogs.tsx';
import { People, useGroupItems } from './tree/GroupRow.tsx';
import { GroupPeople } from './GroupPeople.tsx';
import { buildTree, type Tree, type TreeRow } from './tree/tree.ts';
import css from './GroupPage.module.css';

export function GroupPage() {
  const { groupId } = useParams({ strict: false }) as { groupId: string };
  const t = useText();
  const details = useData('GET /groups/{groupId}', { params: { groupId } });
  const all = useData('GET /groups/tree');
  // A tree that is loaded in parts is not needed here: the server checks where the group may be moved.
  const tree = useMemo(() => buildTree(all.data?.isWhole ? all.data.groups : []), [all.data]);
  const waiting = (
    <Page title="" crumbs={[{ label: t('groups.title'), to: '/groups' }]}>
      <Skeleton />
    </Page>
  );
  return (
    <Loaded response={details} skeleton={waiting}>
      {(group) => <Group key={group.id} group={group} tree={tree} />}
    </Loaded>
  );
}

function Group({ group, tree }: { group: GroupDetails; tree: Tree }) {
  const t = useText();
  const navigate = useNavigate();
  const [doing, setDoing] = useState<OpenGroupDialog>();
  const isAdministrator = hasRole(useSession().user, 'Administrator');
  const isOnly = group.isOnly && !isAdministrator;
  const subgroups = useData('GET /groups/{groupId}/subgroups', { params: { groupId: group.id } });
  const items = useGroupItems(group, (what) => setDoing({ what, group }));
  return (
    <Page
      title={group.name}
      // The list of groups would only lead back here.
      crumbs={isOnly ? [] : [{ label: t('groups.title'), to: '/groups' }]}
      subtitle={<Path group={group} />}
      actions={
        isAdministrator && (
          <>
            {!group.managed && (
              <Button icon={Pencil} onClick={() => setDoing({ what: 'edit', group })}>
                {t('groups.edit')}
              </Button>
            )}
            <Menu
              label={t('groups.menu', { name: group.name })}
              items={group.managed ? items : items.slice(1)}
            />
          </>
        )
      }
    >
      <About group={group} />
      <GroupPeople group={group} />
      <Subgroups
        rows={subgroups.data?.groups ?? []}
        onAdd={isAdministrator ? () => setDoing({ what: 'add', group }) : undefined}
      />
      <GroupDialogs
        doing={doing}
        tree={tree}
        onClose={() => setDoing(undefined)}
        onRemoved={() => void navigate({ to: '/groups' })}
      />
    </Page>
  );
}

/** The groups above the group, from the top. */
function Path({ group: { path } }: { group: GroupDetails }) {
  const t = useText();
  if (path.length === 0) return t('groups.atTop');
  return path.map(({ id, name }, index) => (
    <Fragment key={id}>
      {index > 0 && <span aria-hidden> › </span>}
      <Link to={`/groups/${id}`} className={css['path']}>
        {name}
      </Link>
    </Fragment>
  ));
}

function About({ group }: { group: GroupDetails }) {
  const t = useText();
  const { day } = useFormat();
  const { managed, externalId, description, weeks, schedules } = group;
  const lock = managed && <Locked reason={t('groups.locked')} />;
  const withLock = (value: ReactNode) => (
    <span className={css['value']}>
      {value} {lock}
    </span>
  );
  const none = <span className={css['none']}>{t('groups.nothing')}</span>;
  return (
    <Section
      title={t('groups.about')}
      actions={
        weeks > 0 && (
          <LinkButton to="/" search={{ group: group.id }}>
            {t('groups.toResults')}
          </LinkButton>
        )
      }
    >
      <DescriptionList
        items={[
          [t('groups.state'), <State key="state" group={group} />],
          [t('groups.name'), withLock(group.name)],
          [
            t('groups.description'),
            withLock(description ? <p className={css['text']}>{description}</p> : none),
          ],
          [
            t('groups.externalId'),
            withLock(externalId ? <Copy text={externalId} label={t('groups.externalId')} /> : none),
          ],
          [t('groups.peopleIn'), <People key="people" count={group.people} />],
          [t('groups.results'), weeks > 0 ? t('groups.weeks', { count: weeks }) : t('groups.noWeeks')],
          [
            t('groups.schedules'),
            schedules.length > 0 ? schedules.map(({ name }) => name).join(', ') : undefined,
          ],
          [t('groups.created'), day(group.createdAt)],
        ]}
      />
    </Section>
  );
}

/** The source of the group, and whether the last push set the group structure. */
function State({ group: { managed, lastPush } }: { group: GroupDetails }) {
  const t = useText();
  const { time } = useFormat();
  if (!managed) return <Badge>{t('groups.manual')}</Badge>;
  return (
    <span className={css['state']}>
      <Badge tone="accent">{t('groups.byPushes')}</Badge>
      {lastPush && (
        <span className={css['none']}>
          {t(lastPush.source === 'file' ? 'groups.lastFile' : 'groups.lastPush', {
            time: time(lastPush.at),
          })}{' '}
          {lastPush.setsTree === true && t('groups.setsTree')}
          {lastPush.setsTree === false && t('groups.leavesTree')}
        </span>
      )}
    </span>
  );
}

function Subgroups({ rows, onAdd }: { rows: TreeRow[]; onAdd: (() => void) | undefined }) {
  const t = useText();
  const { number } = useFormat();
  const add = onAdd && (
    <Button icon={Plus} onClick={onAdd}>
      {t('groups.addSubgroup')}
    </Button>
  );
  return (
    <Section title={t('groups.subgroups')} actions={add} flush={rows.length > 0}>
      {rows.length === 0 ? (
        <p className={css['none']}>{t('groups.noSubgroups')}</p>
      ) : (
        <DataTable
          label={t('groups.subgroups')}
          rows={rows}
          rowKey={({ id }) => id}
          to={({ id }) => `/groups/${id}`}
          rowHeight={36}
          columns={[
            { key: 'name', title: t('groups.name'), cell: ({ name }) => name },
            {
              key: 'externalId',
              title: t('groups.externalId'),
              width: 200,
              wideOnly: true,
              cell: ({ externalId }) => <code>{externalId}</code>,
            },
            {
              key: 'groups',
              title: t('groups.subgroups'),
              width: 140,
              align: 'end',
              wideOnly: true,
              cell: ({ descendants }) => number(descendants),
            },
            {
              key: 'people',
              title: t('groups.peopleColumn'),
              width: 100,
              align: 'end',
              cell: ({ people }) => number(people),
            },
          ]}
        />
      )}
    </Section>
  );
}
