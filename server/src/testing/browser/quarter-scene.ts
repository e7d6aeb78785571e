// What happens in the demo company apart from answering, so that pictures show it: groups work on something and check in, people without
// a desk get text messages and cards, and one schedule waits for people by a date. Everything is done by the service's own code.
import { dayIn } from '@soundings/contract/weeks.ts';
import { createKiosk } from '../../cards/kiosks.ts';
import { inTransaction, type Pool } from '../../db/db.ts';
import { applyToFocus, createFocus, type FocusActor } from '../../focus/focus.ts';
import { defineAttribute } from '../../people/attributes.changes.ts';
import { openDueRounds } from '../../rounds/opening.ts';
import { addDays } from '../../rounds/send-times.ts';
import type { AnswerKeys } from '../../sealing/answer-keys.ts';
import { signIn } from '../signed-in.ts';

type Place = {
  pool: Pool;
  keys: AnswerKeys;
  address: string;
  publicUrl: string;
  accountId: number;
  userId: number;
  now: number;
};

/** The Swedish regulator reserves these numbers for films and books, from 05 to 99. */
const phone = '+467017406';

const month = 30 * 86_400_000;

const foci = [
  {
    group: 'warehouse-picking',
    subject: 'workload',
    action: 'We plan the week together on Mondays, and no one works on the new system alone.',
    responsible: 'Maria, team lead',
    outlook: 'onTrack',
    note: 'The Monday meeting is in place. Fewer interruptions since.',
  },
  {
    group: 'lavmark',
    subject: 'clarity',
    action: 'Each department writes down its three most important goals on one page.',
    responsible: 'All heads of department',
    outlook: 'needsHelp',
    note: 'Half of the departments are done. The others need an example.',
  },
] as const;

/** Lets groups work on something, each with a check-in a month later. */
export async function workOnFoci({ pool, accountId, userId, now }: Place): Promise<void> {
  const actorAt = (time: number): FocusActor => ({
    accountId,
    userId,
    now: time,
    today: dayIn('Europe/Stockholm', time),
  });
  for (const { group, outlook, note, ...focus } of foci) {
    const [row] = await pool<{ id: number }[]>`
      select group_id as id from groups where account_id = ${accountId} and external_id = ${group}`;
    const until = addDays(dayIn('Europe/Stockholm', now), 40);
    await inTransaction(pool, async (tx) => {
      const wanted = { ...focus, kind: 'kpi' as const, groupId: row!.id, until };
      const id = await createFocus(tx, actorAt(now - 2 * month), wanted);
      await applyToFocus(tx, actorAt(now - month), id, { change: outlook, note }, async () => {});
    });
  }
}

/** Takes the email address from some people in the warehouse. Three of them have a phone, and the others get cards. */
export async function withoutDesk({ pool, accountId }: Place): Promise<void> {
  await pool`update accounts set sms = true where account_id = ${accountId}`;
  await pool`
    with chosen as (select m.user_id, row_number() over (order by m.user_id) as place
                  from   memberships m
                  join   groups g using (account_id, group_id)
                  join   users u using (account_id, user_id)
                  where  m.account_id = ${accountId} and m.kind = 'memberOf' and g.external_id = 'warehouse-picking'
                    and  u.role = 'User' and u.active
                  limit  9)
    update users u
    set    email = null, email_key = null, phone = case when chosen.place <= 3 then ${phone}::text || (90 + chosen.place)::text end
    from   chosen
    where  u.account_id = ${accountId} and u.user_id = chosen.user_id`;
}

/** Creates a kiosk, and returns the secret part of its address. */
export async function openKiosk({ pool, accountId, userId, publicUrl }: Place): Promise<string> {
  const values = { name: 'Canteen', groupId: null, by: userId };
  const kiosk = await inTransaction(pool, (tx) => createKiosk(tx, accountId, values, publicUrl));
  return kiosk!.address.slice(kiosk!.address.lastIndexOf('/') + 1);
}

/** Gives people a start date, and creates the schedule of a template that waits for people by it. Returns its id. */
export async function waitByDate({ pool, keys, address, accountId, userId, now }: Place): Promise<number> {
  const today = dayIn('Europe/Stockholm', now);
  await inTransaction(pool, (tx) =>
    defineAttribute(tx, accountId, { name: 'start date', allowedValues: null }),
  );
  // Most people started years ago. Nine started in the last weeks: three of them are due today, and all of them next week.
  await pool`
    update users u
    set    attributes = coalesce(u.attributes, '{}') || jsonb_build_object('start date'::text, (${today}::date - p.days)::text)
    from   (select user_id, case when place <= 3 then 33 when place <= 9 then 24
                                 else 60 + (place * 37 % 2900)::integer end as days
            from   (select user_id, row_number() over (order by user_id desc) as place
                    from   users where account_id = ${accountId} and managed and active) numbered) p
    where  u.account_id = ${accountId} and u.user_id = p.user_id`;
  const request = await signIn({ pool, address }, accountId, userId);
  const { body } = await request<{ scheduleId: number }>('POST /templates/onboarding-30', {
    attribute: 'start date',
  });
  await pool`
    update schedules set from_day = ${addDays(today, -7)}
    where  account_id = ${accountId} and schedule_id = ${body.scheduleId}`;
  await openDueRounds(pool, keys, now, { accountId });
  return body.scheduleId;
}
