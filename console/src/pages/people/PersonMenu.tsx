// The menu of actions on a person besides editing.
import type { Person } from '@soundings/contract/console/people.ts';
import {
  ArrowDownToLine,
  ArrowUpFromLine,
  CirclePause,
  CirclePlay,
  KeyRound,
  LogOut,
  Mail,
  ShieldOff,
  Trash2,
  UserRound,
} from 'lucide-react';
import { api, ApiError } from '../../api.ts';
import { useSession } from '../../session.tsx';
import { useText } from '../../text/text.tsx';
import { useErrorText } from '../../ui/faults.ts';
import { Menu } from '../../ui/floating/Menu.tsx';
import { useToast } from '../../ui/floating/Toast.tsx';
import { personName } from './names.ts';
import { linkKindOf, type PersonAction, type SelectedPerson, usePeopleRefresh } from './actions.ts';

type PersonOfMenu = SelectedPerson & {
  managed: boolean;
  active: boolean;
  signIn?: Person['signIn'];
  surveyEmails?: Person['surveyEmails'];
};

const linkTexts = {
  invite: 'people.invitePerson',
  remind: 'people.remindPerson',
  link: 'people.link',
} as const;
type MenuProps = {
  person: PersonOfMenu;
  /** In the list: the menu includes a link to the person. */
  isInList?: boolean;
  onDo: (what: PersonAction) => void;
};

/** Disables a menu item, and shows the reason. */
const disabledFor = (reason: string | undefined) =>
  reason === undefined ? {} : { hint: reason, disabled: true };

export function PersonMenu({ person, isInList, onDo }: MenuProps) {
  const t = useText();
  const setActive = useSetActive(person);
  const isOwnAccount = useSession().user.id === person.id;
  const { managed, byDirectory, active, email, signIn, surveyEmails = 'all' } = person;
  const lockedReason = t(byDirectory ? 'people.lockedByDirectory' : 'people.lockedReason');
  const ownAccountReason = isOwnAccount ? t('fault.own account') : undefined;
  const noLink = !active ? t('people.linkInactive') : email === null ? t('people.linkNoEmail') : undefined;
  return (
    <Menu
      label={t('people.actions', { name: personName(person) })}
      items={[
        isInList && { label: t('people.open'), icon: UserRound, to: `/people/${person.id}` },
        {
          label: t(linkTexts[linkKindOf(person)]),
          icon: KeyRound,
          onSelect: () => onDo('link'),
          ...disabledFor(noLink),
        },
        signIn && {
          label: t('people.endSessions'),
          icon: LogOut,
          onSelect: () => onDo('sessions'),
          ...disabledFor(signIn.sessions === 0 ? t('people.noSessions') : undefined),
        },
        signIn && {
          label: t('people.turnOffTwoFactor'),
          icon: ShieldOff,
          onSelect: () => onDo('twoFactor'),
          ...disabledFor(signIn.hasTwoFactor ? undefined : t('people.twoFactorIsOff')),
        },
        surveyEmails !== 'all' && {
          label: t('people.emailsOn'),
          icon: Mail,
          onSelect: () => onDo('emails'),
        },
        'line',
        {
          label: t(active ? 'people.deactivate' : 'people.activate'),
          icon: active ? CirclePause : CirclePlay,
          onSelect: () => void setActive(!active),
          ...disabledFor(managed ? lockedReason : ownAccountReason),
        },
        managed
          ? {
              label: t(byDirectory ? 'people.takeBack' : 'people.takeOver'),
              icon: ArrowDownToLine,
              onSelect: () => onDo('release'),
            }
          : {
              label: t('people.handOver'),
              icon: ArrowUpFromLine,
              onSelect: () => onDo('adopt'),
              ...disabledFor(ownAccountReason),
            },
        {
          label: t('people.remove'),
          icon: Trash2,
          danger: true,
          onSelect: () => onDo('remove'),
          ...disabledFor(managed ? t('people.removeManaged') : ownAccountReason),
        },
      ]}
    />
  );
}

/** Activates or deactivates a person, with Undo. */
function useSetActive(person: PersonOfMenu) {
  const t = useText();
  const toast = useToast();
  const refresh = usePeopleRefresh();
  const errorText = useErrorText();
  return async function setActive(active: boolean, isUndo = false): Promise<void> {
    try {
      await api('PATCH /users/{userId}', { params: { userId: person.id }, body: { active } });
      await refresh();
      const name = personName(person);
      toast({
        text: t(active ? 'people.activated' : 'people.deactivated', { name }),
        ...(!isUndo && { undo: () => void setActive(!active, true) }),
      });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      toast({ text: errorText(error), tone: 'bad' });
    }
  };
}
