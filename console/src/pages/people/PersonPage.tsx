// A person: their data and its source, what can be changed here, and what pushes and files have changed.
import type { Person, PersonFields } from '@soundings/contract/console/people.ts';
import { useParams } from '@tanstack/react-router';
import { Pencil } from 'lucide-react';
import { useState } from 'react';
import { api } from '../../api.ts';
import { useData } from '../../hooks/data.ts';
import { useSession } from '../../session.tsx';
import { useText } from '../../text/text.tsx';
import { Button, LinkButton } from '../../ui/Button.tsx';
import { useForm } from '../../ui/form/Form.tsx';
import { Notice } from '../../ui/page/Notice.tsx';
import { Page } from '../../ui/page/Page.tsx';
import { Padded } from '../../ui/page/Section.tsx';
import { Loaded, Skeleton } from '../../ui/page/States.tsx';
import { useToast } from '../../ui/floating/Toast.tsx';
import { personName } from './names.ts';
import css from './people.module.css';
import { changesOf, isInvitable, personValuesOf } from './person-values.ts';
import { usePeopleRefresh } from './actions.ts';
import { type OpenPersonDialog, PersonDialogs } from './PersonDialogs.tsx';
import { PersonForm } from './PersonForm.tsx';
import { PersonMenu } from './PersonMenu.tsx';
import { PersonStatus } from './PersonStatus.tsx';
import { PersonProfile } from './PersonProfile.tsx';

export function PersonPage() {
  const t = useText();
  const { userId = '' } = useParams({ strict: false }) as { userId?: string };
  const person = useData('GET /users/{userId}', { params: { userId } });
  const fields = useData('GET /users/fields');
  const waiting = (
    <Page title={t('people.person')} crumbs={[{ label: t('people.title'), to: '/people' }]}>
      <Skeleton rows={10} />
    </Page>
  );
  return (
    <Loaded response={person} skeleton={waiting}>
      {(known) => (
        <Loaded response={fields} skeleton={waiting}>
          {(all) => <Known key={known.id} person={known} fields={all} />}
        </Loaded>
      )}
    </Loaded>
  );
}

function PendingRole({ person }: { person: Person }) {
  const t = useText();
  const toast = useToast();
  const refresh = usePeopleRefresh();
  const confirm = async () => {
    await api('POST /users/{userId}/confirm', { params: { userId: person.id } });
    await refresh();
    toast({ text: t('people.roleConfirmed', { name: personName(person) }) });
  };
  return (
    <Padded>
      <Notice
        tone="warn"
        title={t('people.rolePendingTitle')}
        actions={<Button onClick={() => void confirm()}>{t('people.roleConfirm')}</Button>}
      >
        {t('people.rolePendingText')}
      </Notice>
    </Padded>
  );
}

function Known({ person, fields }: { person: Person; fields: PersonFields }) {
  const t = useText();
  const [isEditing, setEditing] = useState(false);
  const [doing, setDoing] = useState<OpenPersonDialog>();
  const edit = () => setEditing(true);
  return (
    <Page
      title={personName(person)}
      subtitle={<Marks person={person} />}
      crumbs={[{ label: t('people.title'), to: '/people' }]}
      actions={
        <>
          {!isEditing && (
            <Button icon={Pencil} onClick={edit}>
              {t('people.edit')}
            </Button>
          )}
          <PersonMenu person={person} onDo={(what) => setDoing({ what, person })} />
        </>
      }
    >
      {person.isRolePending && <PendingRole person={person} />}
      {person.managed && (
        <Padded>
          <Notice
            title={t(person.byDirectory ? 'people.directoryTitle' : 'people.managedTitle')}
            actions={
              <Button onClick={() => setDoing({ what: 'release', person })}>
                {t(person.byDirectory ? 'people.takeBack' : 'people.takeOver')}
              </Button>
            }
          >
            {t(person.byDirectory ? 'people.directoryText' : 'people.managedText')}
          </Notice>
        </Padded>
      )}
      {!person.byDirectory && <DirectoryUser personId={person.id} />}
      {isEditing ? (
        <Editing key={String(person.managed)} {...{ person, fields }} onEnd={() => setEditing(false)} />
      ) : (
        <PersonProfile person={person} fields={fields} onDo={(what) => setDoing({ what, person })} />
      )}
      <PersonDialogs doing={doing} onClose={() => setDoing(undefined)} />
    </Page>
  );
}

/** A user of the directory that is most likely this person, and where an administrator decides about it. */
function DirectoryUser({ personId }: { personId: number }) {
  const t = useText();
  const user = useData('GET /directory/people/{userId}', { params: { userId: personId } }).data?.user;
  if (!user) return null;
  const { id, name, userName, isKept } = user;
  return (
    <Padded>
      <Notice
        tone="neutral"
        title={t('people.directoryUserTitle', { name })}
        actions={
          <LinkButton to="/directory" search={{ user: id }}>
            {t('people.directoryDecide')}
          </LinkButton>
        }
      >
        {isKept ? t('people.directoryUserKept') : t('people.directoryUserText', { userName })}
      </Notice>
    </Padded>
  );
}

function Marks({ person: { active, role, managed, signIn } }: { person: Person }) {
  const t = useText();
  return (
    <span className={css['marks']}>
      <PersonStatus person={{ active, ...signIn }} />
      <span>{t(`role.${role}`)}</span>
      <span>{t(managed ? 'people.managed' : 'people.manual')}</span>
    </span>
  );
}

function Editing({ person, fields, onEnd }: { person: Person; fields: PersonFields; onEnd: () => void }) {
  const t = useText();
  const toast = useToast();
  const refresh = usePeopleRefresh();
  const isOwnAccount = useSession().user.id === person.id;
  const attributes = fields.attributes.map(({ name }) => name);
  // The state when editing began, so that refetched data does not look like input.
  const [before] = useState(person);
  const form = useForm({
    // Someone who gets a role is invited, unless the user says otherwise.
    initial: { ...personValuesOf(before, attributes), invite: true },
    submit: (values) =>
      api('PATCH /users/{userId}', {
        params: { userId: person.id },
        body: {
          ...changesOf(values, before, attributes),
          ...(isInvitable(values, fields, before) && values.invite && { invite: true }),
        },
      }),
    onDone: async () => {
      await refresh();
      onEnd();
      toast({ text: t('people.saved') });
    },
  });
  return (
    <PersonForm
      form={form}
      fields={fields}
      person={before}
      isOwnAccount={isOwnAccount}
      actions={
        <>
          <Button type="submit" kind="primary" busy={form.busy} disabled={!form.isDirty}>
            {t('action.save')}
          </Button>
          <Button onClick={onEnd}>{t('action.cancel')}</Button>
        </>
      }
    />
  );
}
