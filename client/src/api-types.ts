// The requests and responses of the interfaces, as types. Generated from the OpenAPI documents by `npm run fix`.

export interface paths {
    "/v1/groups": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the groups
         * @description Returns all active groups of the account, ordered by ID. With kind=segment, returns the account's segments instead: attribute values. Read a segment's figures by its ID, like a group's.
         */
        get: operations["getGroups"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/kpis": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the KPIs
         * @description Returns the KPIs that have ever had a value in the account.
         */
        get: operations["getKpis"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/kpis/{kpiId}/values": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Values of a KPI
         * @description Returns the values of a group, and of its subgroups if requested: all in a date range, or the latest of each group. If a group was asked but its value is withheld, the value is null. A group that was never asked has no value.
         */
        get: operations["getKpiValues"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/responserates/values": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Response rates
         * @description Returns the share of questions that were answered or actively skipped, in rounds that asked everyone in the group: all in a date range, or the latest of each group. The response is an array with one object.
         */
        get: operations["getResponseRates"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/results": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Results of questions
         * @description Returns results by question, group and week: in a date range, or for the current week and the four before it. The response is an array with one object.
         */
        get: operations["getResults"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/askedquestions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Which questions were asked
         * @description Returns the questions asked by group and week, including open weeks: in a date range, or for the current week and the four before it. A question asked of a group is also asked of its subgroups. The response is an array with one object.
         */
        get: operations["getAskedQuestions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/feed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A flat feed for BI tools
         * @description Returns one row for each group, week and metric, streamed as CSV or NDJSON. Rows are ordered by metric, then KPI or question, group and week. This operation is not part of the original interface description.
         */
        get: operations["getFeed"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/organization/organization": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Push users and groups
         * @description Makes the managed users and groups match the lists in the request. Only validates unless `settings.validateOnly` is false. A request with an error changes nothing, and all errors are listed. The body can be compressed with gzip (`Content-Encoding: gzip`).
         */
        post: operations["postOrganization"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/organization": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Push users and groups (short address)
         * @description The same as `POST /v1/organization/organization`.
         */
        post: operations["postOrganizationShort"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/organization/pushes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Open a push in parts
         * @description Opens a push for lists that are too large for one request. Send the lists in parts, then commit them as one request. An account has one open push. This operation is not part of the original interface description.
         */
        post: operations["openPush"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/organization/pushes/{pushId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the state of a push in parts
         * @description Returns which parts were received, and the result of the last commit. The result of a push that was applied stays for 400 days, even if it is deleted or another push is opened. This operation is not part of the original interface description.
         */
        get: operations["getPush"];
        put?: never;
        post?: never;
        /**
         * Delete a push in parts
         * @description Deletes a push with its parts. Changes that were applied stay. This operation is not part of the original interface description.
         */
        delete: operations["deletePush"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/organization/pushes/{pushId}/parts/{part}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Send a part of a push
         * @description Checks and stores a part of the lists. Parts can be sent in any order. A part with the same number replaces the earlier one, so it can be sent again after a lost response. The parts together can list 1,000,000 users and 100,000 groups, in 64 MB; the operator can allow an account more. This operation is not part of the original interface description.
         */
        put: operations["putPart"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/organization/pushes/{pushId}/commit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Commit a push in parts
         * @description Starts to process the parts, in the order of their numbers, as if their lists had been sent in one request: a dry run unless `settings.validateOnly` is false. It responds immediately; read the result with `GET /v1/organization/pushes/{pushId}`. After a dry run, the same parts can be committed again. Paths in errors and warnings count the entries of all parts. This operation is not part of the original interface description.
         */
        post: operations["commitPush"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/organization/pushes/{pushId}/changes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the changes of the last commit
         * @description Returns up to 1,000 changes of the last commit, in the order of the lists. This operation is not part of the original interface description.
         */
        get: operations["getPushChanges"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/storage/uploadFile": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Upload a file
         * @description Uploads one file (CSV, XLS or XLSX, at most 10 MB) as a form field, and returns its name: the last part of the name that was sent. A file with the same name is replaced. The users and groups in the file are then processed like an organization request. The result is in the report of the file.
         */
        post: operations["uploadFile"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/storage/files": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the files
         * @description Returns the names of all stored files in ascending order.
         */
        get: operations["listFiles"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/storage/files/{name}/report": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the report of a file
         * @description Returns the report of the last file with this name. This operation is not part of the original interface description.
         */
        get: operations["getFileReport"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the audit log
         * @description Returns the entries after a position, oldest first, one JSON object per line. An empty response means that there are no new entries yet. Each entry contains the hash of the one before it. Keep the position and hash of the last entry that you have read, and send both the next time: then the response also proves that no earlier entry has been changed or removed since.
         */
        get: operations["getAudit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** Group */
        Group: {
            /** @description The ID of the group: unique in the whole service and never reused. */
            id: number;
            /** @description The customer's own ID of the group. Omitted if the group has none. */
            externalId?: string;
            /** @description The name of the group. */
            name: string;
            /** @description Omitted if there is none. */
            description?: string;
            /** @description The IDs of all subgroups at any depth, in ascending order. These are exactly the groups that includeSubgroups=true adds. Empty if the group has no subgroups. */
            subgroups: number[];
            /**
             * @description Only segments have this field. Not part of the original interface description.
             * @constant
             */
            kind?: "segment";
            /** @description Only for segments: the name of the breakdown, such as Site. Not part of the original interface description. */
            breakdown?: string;
        };
        /** Detail */
        Detail: {
            /** @description The kind of error: a code listed in docs/integrators/errors.md. */
            type: string;
            /** @description What is wrong and how to fix it. */
            message: string;
            /** @description Where: a JSON pointer into the body, or the name of a parameter. */
            path?: string;
            /** @description The user or group that the error is about. */
            externalId?: string;
            /** @description The row of the file, starting at 1. */
            row?: number;
            /** @description The sheet of the file. */
            sheet?: string;
            /** @description The header of the column in the file. */
            column?: string;
            /** @description The content of the cell, or the one value of several that is wrong. */
            value?: string;
            /** @description The setting whose limit is exceeded. */
            setting?: string;
            /** @description The limit that the setting allows. */
            limit?: number;
            /** @description The number of changes that the request would make. */
            count?: number;
        };
        /**
         * Problem
         * @description The body of every error.
         */
        Problem: {
            /** @description The ID of the request. It is also in the x-request-id header and in the log. */
            id: string;
            /** @description What went wrong, in one sentence. */
            message: string;
            /** @description All errors that were found. */
            details: components["schemas"]["Detail"][];
        };
        /** Kpi */
        Kpi: {
            id: string;
            name: string;
            /** @description Omitted if there is none. */
            imageURL?: string;
        };
        /**
         * Value
         * @description For a token with quoted numbers, values have the form of the original service: {"groupId": "3939", "value": "0.89", "yearWeek": "201815", "date": "2018-04-09 00:00:00"}; a withheld value is null.
         */
        Value: {
            groupId: number;
            /** @description Null if it is withheld, for example because there are too few answers. */
            value: number | null;
            /** @description The ISO week, GGGGWW. */
            yearWeek: string;
            /**
             * Format: date
             * @description The Monday of that week.
             */
            date: string;
        };
        /** KpiValues */
        KpiValues: {
            kpi: components["schemas"]["Kpi"];
            values: components["schemas"]["Value"][];
        };
        /** ResponseRateValues */
        ResponseRateValues: {
            values: components["schemas"]["Value"][];
        };
        /** Question */
        Question: {
            /** @description Never reused. */
            id: number;
            /** @description The text of the question. */
            question: string;
            /** @description 1: scale 1–5; 2: scale 1–10; 3: recommendation 0–10; 4: yes/no; 5: single choice; 6: multiple choice; 7: free text; 8: scale 1–4. */
            type: number;
        };
        /** AnswerData */
        AnswerData: {
            /** @description Types 1–4 and 8: the mean of the answers, scaled to 0…1. Null for other types and if it is withheld. */
            value: number | null;
            /** @description The number of answers behind the value. Null if it is withheld. */
            answers: number | null;
            /** @description How often each answer was given, by scale value, yes and no, or option ID. Omitted if it is withheld. It can cover fewer answers than the value, because answers that would reveal too few people are left out. */
            distribution?: {
                [key: string]: number;
            };
            /** @description Type 3: promoters (9, 10) minus detractors (0–6), as a percentage of the answers. */
            enps?: number;
            /** @description Types 5 and 6: the text of each option, by option ID. */
            options?: {
                [key: string]: string;
            };
            /** @description With granularData, types 1–4 and 8: the individual answers on their own scale (yes 1, no 0), in ascending order. */
            individual?: number[];
            /** @description How many people answered “not applicable”. Their answers are in no other field. Omitted if it is withheld, or if people could not choose it. */
            notApplicable?: number;
            /** @description Of how many people who answered, with or without a value. Their share is `notApplicable` ÷ `notApplicableOf`. */
            notApplicableOf?: number;
        };
        /** ResultsValues */
        ResultsValues: {
            questions: components["schemas"]["Question"][];
            /** @description A single map with all questions. */
            values: {
                [key: string]: {
                    [key: string]: {
                        [key: string]: components["schemas"]["AnswerData"];
                    };
                };
            }[];
            /** @description With includeComments. A group's comments include those of its subgroups. */
            comments?: {
                [key: string]: {
                    [key: string]: {
                        [key: string]: string[];
                    };
                };
            }[];
        };
        /** AskedQuestionsValues */
        AskedQuestionsValues: {
            questions: components["schemas"]["Question"][];
            /** @description A single map: the IDs of the questions asked of each group in each week. */
            askedquestions: {
                [key: string]: {
                    [key: string]: number[];
                };
            }[];
        };
        /** FeedRow */
        FeedRow: {
            /** @enum {string} */
            metric: "kpi" | "responserate" | "question";
            /** @description The ID of the KPI or question. Empty for the response rate. */
            metricId: string;
            metricName: string;
            groupId: number;
            groupExternalId?: string;
            groupName: string;
            /** @description The ISO week, such as 2026-W47. */
            week: string;
            /** Format: date */
            monday: string;
            value: number | null;
            /** @description For questions: the number of answers behind the figure. */
            answers: number | null;
            /**
             * @description shown; withheld: too few people; open: the week has not closed yet.
             * @enum {string}
             */
            status: "shown" | "withheld" | "open";
            /** @description Whether the figure is based partly on links or cards that the employer handed out, because fewer people than the threshold answered through a link sent to them. For a KPI: whether this is true of one of its questions. */
            handedOut: boolean;
            /** @description For KPIs: the mean of the latest published figures of its questions in a window of weeks. Use it to compare weeks. */
            rolling: number | null;
            /** @description The standard error of `rolling`, or of the value of a question. Null: not known. */
            standardError: number | null;
            /** @description The change since the same questions were asked before. Null: nothing can be compared. */
            change: number | null;
            /** @description Whether the change is clear: larger than usual changes in groups where nothing happens. Null: there is no change, or the statistics of the week are not computed yet. */
            isClear: boolean | null;
            /** @description Whether `handedOut` is true for one of the figures behind the change, in this week or the earlier one. Null: there is no change. */
            changeHandedOut: boolean | null;
            /** @description For response rates: how many people were asked anything. Null: withheld, or not stored. */
            asked: number | null;
            /** @description For response rates: how many of these people answered or skipped anything. The console shows `answered` ÷ `asked`; `value` counts the questions. */
            answered: number | null;
            /** @description For questions: how many people answered “not applicable”. Their answers are in no other figure of the row. Null: withheld, or people could not choose it. */
            notApplicable: number | null;
            /** @description Of how many people who answered, with or without a value. Null like `notApplicable`. It can differ from `answers` + `notApplicable`, because both leave out answers that would reveal too few people. */
            notApplicableOf: number | null;
            /** @description Only with kind=segment: the name of the breakdown, such as Site. */
            breakdown?: string;
        };
        /** Settings */
        Settings: {
            /**
             * @description true: report the changes without making them. false: apply the changes.
             * @default true
             */
            validateOnly?: boolean;
            /**
             * @description By default, language is set only when a user is created, and users can change it later. With true, every request sets it on existing users too and overwrites their choice.
             * @default false
             */
            forceSetLanguage?: boolean;
            /** @description The `plan` of an earlier dry run of the same lists. If the request would now make other changes, it is refused as a whole. Not part of the original interface description. */
            expectedPlan?: string;
            /**
             * @description The maximum number of users that the request may create. A request with more is rejected as a whole.
             * @default 200
             */
            maxUsersCreated?: number;
            /**
             * @description The maximum number of users that the request may update. A request with more is rejected as a whole.
             * @default 200
             */
            maxUsersUpdated?: number;
            /**
             * @description The maximum number of users that the request may delete. A request with more is rejected as a whole.
             * @default 200
             */
            maxUsersDeleted?: number;
            /**
             * @description The maximum number of groups that the request may create. A request with more is rejected as a whole.
             * @default 200
             */
            maxGroupsCreated?: number;
            /**
             * @description The maximum number of groups that the request may update. A request with more is rejected as a whole.
             * @default 200
             */
            maxGroupsUpdated?: number;
            /**
             * @description The maximum number of groups that the request may delete. A request with more is rejected as a whole.
             * @default 200
             */
            maxGroupsDeleted?: number;
        };
        /** AccessInfo */
        AccessInfo: {
            /** @description The groups that the user is a member of, by externalId. The list replaces the user's entries of this kind in managed groups. If it is omitted, they stay as they are. */
            memberOf?: string[];
            /** @description The groups that the user owns, by externalId. The list replaces the user's entries of this kind in managed groups. If it is omitted, they stay as they are. */
            adminOf?: string[];
            /** @description The groups that the user owns, including all their subgroups, by externalId. The list replaces the user's entries of this kind in managed groups. If it is omitted, they stay as they are. */
            inheritedAdminOf?: string[];
            /** @description The groups whose results the user can read, by externalId. The list replaces the user's entries of this kind in managed groups. If it is omitted, they stay as they are. */
            interestOf?: string[];
            /**
             * @description Case-sensitive. If omitted, existing users keep their current role, and new users get the User role.
             * @enum {string}
             */
            role?: "Administrator" | "Manager" | "User";
        };
        /** User */
        User: {
            /** @description Unique across all users; must never change. */
            externalId: string;
            /** @description Given name. */
            firstName: string;
            /** @description Family name. */
            lastName: string;
            /** @description Unique in the account; upper and lower case count as equal. If omitted, it stays as it is. null clears it. */
            email?: string | null;
            /** @description E.164, such as +46701234567. Spaces, dashes and brackets are removed. If omitted, it stays as it is. null clears it. */
            phone?: string | null;
            /**
             * @description Inactive users stay in the account, but cannot sign in and are not asked.
             * @default true
             */
            active?: boolean;
            /** @description A time zone name, such as Europe/Stockholm. If omitted: the account’s default. */
            timezone?: string;
            /** @description ISO 639-1, such as en. Set when the user is created (if omitted: the account’s default), later only with forceSetLanguage. */
            language?: string;
            accessInfo?: components["schemas"]["AccessInfo"];
            /** @description Attributes that are defined in the account. A value sets the attribute, null clears it, and omitted attributes stay as they are. */
            externalProperties?: {
                [key: string]: string | null;
            };
        };
        /** OrganizationGroup */
        OrganizationGroup: {
            /** @description Unique across all groups; must never change. */
            externalId: string;
            /** @description Name of the group or unit. */
            name: string;
            /** @description If omitted, it stays as it is. null clears it. */
            description?: string | null;
            /** @description The externalId of the parent group. If no group in the request has this field, the tree stays as it is. If any group has it, the request describes the whole tree: groups without it, or with null, are at the top. */
            parent?: string | null;
        };
        /** Data */
        Data: {
            /** @description The complete list of managed users. Any managed user not in it is removed. If omitted, users stay as they are. */
            users?: components["schemas"]["User"][];
            /** @description The complete list of managed groups. Any managed group not in it is removed. If omitted, groups stay as they are. */
            groups?: components["schemas"]["OrganizationGroup"][];
        };
        /** Organization */
        Organization: {
            settings?: components["schemas"]["Settings"];
            data?: components["schemas"]["Data"];
        };
        /** Counts */
        Counts: {
            created: number;
            updated: number;
            deleted: number;
            unchanged: number;
        };
        /** Summary */
        Summary: {
            users: components["schemas"]["Counts"];
            groups: components["schemas"]["Counts"];
        };
        /** Change */
        Change: {
            /** @enum {string} */
            entity: "user" | "group";
            externalId: string;
            /** @enum {string} */
            action: "create" | "update" | "delete";
            /** @description For an update: each changed field, with its value before and after. */
            fields?: {
                [key: string]: {
                    from: unknown;
                    to: unknown;
                };
            };
        };
        /** Warning */
        Warning: {
            type: string;
            message: string;
            path?: string;
            /**
             * @description The kind of object, if it is not a user.
             * @enum {string}
             */
            entity?: "group";
            /** @description The user or group that the warning is about. */
            externalId?: string;
            /** @description The externalId of the new user with the same email address, or of the new group with the same name and parent. */
            arrivesAs?: string;
            /** @description The number of weeks of results that are deleted with the group. */
            weeks?: number;
        };
        /**
         * Report
         * @description What was changed or, if the request only validates, what would be changed.
         */
        Report: {
            /** @description The ID of the run. It is also the ID of the request, in the x-request-id header. */
            id: string;
            validateOnly: boolean;
            /** @description Whether the changes were made. */
            applied: boolean;
            /** @description Identifies exactly these changes. Send it as `expectedPlan` to apply them and no others. Not part of the original interface description. */
            plan: string;
            summary: components["schemas"]["Summary"];
            changes: components["schemas"]["Change"][];
            warnings: components["schemas"]["Warning"][];
        };
        /**
         * PushRun
         * @description The last commit.
         */
        PushRun: {
            /** @description The ID of the run. It is also the ID of the commit request. */
            id: string;
            /**
             * @description validated: a dry run without errors. failed: the run was interrupted and nothing was applied. Commit again.
             * @enum {string}
             */
            outcome: "processing" | "validated" | "applied" | "refused" | "failed";
            validateOnly: boolean;
            /** @description Why the run was refused or has failed. */
            message?: string;
            /** @description The errors of a refused run. */
            details?: components["schemas"]["Detail"][];
            /** @description Identifies exactly these changes. Send it as `expectedPlan` to apply them and no others. */
            plan?: string;
            summary?: components["schemas"]["Summary"];
            warnings?: components["schemas"]["Warning"][];
        };
        /**
         * Push
         * @description A push in parts.
         */
        Push: {
            id: string;
            /**
             * @description open: accepts parts and commits, also after a dry run or a refused commit. processing: a commit runs. applied: the changes were made, and the parts were deleted.
             * @enum {string}
             */
            state: "open" | "processing" | "applied";
            /**
             * Format: date-time
             * @description When the push is deleted if nothing is sent to it: 24 hours after the last part or commit. Once it was applied, this is when its result is deleted: 400 days after the commit.
             */
            expiresAt: string;
            /** @description The numbers of the parts that were received. */
            parts: number[];
            /** @description How many users the parts list. Null if no part has a list of users: then users stay as they are. */
            users: number | null;
            /** @description How many groups the parts list. */
            groups: number | null;
            /** @description The last commit. Null if there was none. */
            run: components["schemas"]["PushRun"] | null;
        };
        /**
         * Part
         * @description A part of the lists: at most 20,000 users and groups together.
         */
        Part: {
            data: components["schemas"]["Data"];
        };
        /**
         * PartReceipt
         * @description What a part lists. A part is stored only if it has no errors.
         */
        PartReceipt: {
            part: number;
            users: number | null;
            groups: number | null;
            warnings: components["schemas"]["Warning"][];
        };
        /** CommitSettings */
        CommitSettings: {
            /**
             * @description true: report the changes without making them. false: apply the changes.
             * @default true
             */
            validateOnly?: boolean;
            /**
             * @description By default, language is set only when a user is created, and users can change it later. With true, every request sets it on existing users too and overwrites their choice.
             * @default false
             */
            forceSetLanguage?: boolean;
            /** @description The `plan` of an earlier dry run of the same lists. If the request would now make other changes, it is refused as a whole. Not part of the original interface description. */
            expectedPlan?: string;
            /**
             * @description The maximum number of users that the request may create. A request with more is rejected as a whole. How high it can be is a setting of the account, which the operator changes: 20,000 by default.
             * @default 200
             */
            maxUsersCreated?: number;
            /**
             * @description The maximum number of users that the request may update. A request with more is rejected as a whole. How high it can be is a setting of the account, which the operator changes: 20,000 by default.
             * @default 200
             */
            maxUsersUpdated?: number;
            /**
             * @description The maximum number of users that the request may delete. A request with more is rejected as a whole. How high it can be is a setting of the account, which the operator changes: 20,000 by default.
             * @default 200
             */
            maxUsersDeleted?: number;
            /**
             * @description The maximum number of groups that the request may create. A request with more is rejected as a whole. How high it can be is a setting of the account, which the operator changes: 20,000 by default.
             * @default 200
             */
            maxGroupsCreated?: number;
            /**
             * @description The maximum number of groups that the request may update. A request with more is rejected as a whole. How high it can be is a setting of the account, which the operator changes: 20,000 by default.
             * @default 200
             */
            maxGroupsUpdated?: number;
            /**
             * @description The maximum number of groups that the request may delete. A request with more is rejected as a whole. How high it can be is a setting of the account, which the operator changes: 20,000 by default.
             * @default 200
             */
            maxGroupsDeleted?: number;
        };
        /** Commit */
        Commit: {
            /** @description How many parts the push has. They must be numbered from 1 to this number. */
            parts: number;
            settings?: components["schemas"]["CommitSettings"];
        };
        /** PushChanges */
        PushChanges: {
            changes: components["schemas"]["Change"][];
            /** @description Send it as `after` to read the next changes. Null if there are no more. */
            next: number | null;
        };
        /** Upload */
        Upload: {
            /**
             * Format: binary
             * @description The file. The field can have any name. Fields that are not files are ignored.
             */
            file: string;
        };
        /** FileReport */
        FileReport: {
            /** @description The name of the file. */
            file: string;
            /**
             * Format: date-time
             * @description When the upload was complete.
             */
            receivedAt: string;
            /**
             * @description waiting: not processed yet. processing: being processed now. applied: the changes were made. validated: the file is valid, but the account only validates files. refused: the file has errors or the upload was rejected; nothing was applied. pending: the file would exceed a change limit; nothing is applied until an administrator approves it. failed: the file could not be processed.
             * @enum {string}
             */
            outcome: "waiting" | "processing" | "validated" | "applied" | "refused" | "pending" | "failed";
            /** @description For a waiting file: its position in the account’s queue. 1 is processed next. */
            place?: number;
            /** @description The result in one sentence, for the sender. */
            message: string;
            /** @description The ID of the run that the file started. */
            runId?: string;
            summary?: components["schemas"]["Summary"];
            changes?: components["schemas"]["Change"][];
            /** @description All errors, each with its sheet, row, column and value. */
            details: components["schemas"]["Detail"][];
            /** @description Issues that did not stop the file. */
            warnings: components["schemas"]["Detail"][];
        };
        /** AuditRecord */
        AuditRecord: {
            accountId: number;
            /** @description The position in the chain: 1, 2, 3 and so on, without gaps. Pass the last one as `after` to continue. */
            position: number;
            /** @description The hash of the entry before it; 64 zeros for the first entry. */
            previous: string;
            /** @description The number of the entry in the console. Numbers can have gaps and be out of order. */
            id: number;
            /**
             * Format: date-time
             * @description When the action began, in UTC. Not always ascending, because actions take time.
             */
            at: string;
            /**
             * @description How the action was performed.
             * @enum {string}
             */
            origin: "console" | "command" | "api" | "file" | "service";
            /** @description The ID of the user. It stays after the person is removed. */
            userId: number | null;
            /** @description The ID of the API token. */
            tokenId: number | null;
            /** @description The IP address. */
            address: string | null;
            /** @description The action, such as `token created`. Later versions can have more. */
            action: string;
            /** @description What the action applied to: an ID, or a name that identifies no person. */
            subject: string | null;
            /** @description Other facts, different by action. */
            details: {
                [key: string]: unknown;
            };
            /** @description SHA-256 (hexadecimal) of all other fields as canonical JSON (RFC 8785). */
            hash: string;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    getGroups: {
        parameters: {
            query?: {
                kind?: "group" | "segment";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Group"][];
                };
            };
            /** @description A query parameter is unknown, repeated or invalid. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The token is missing, unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The token lacks the `data` scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests with this token. Try again after `Retry-After` seconds. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The service is starting or stopping, or has no database connection. Try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getKpis: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Kpi"][];
                };
            };
            /** @description An unknown query parameter. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The token is missing, unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The token lacks the `data` scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests with this token. Try again after `Retry-After` seconds. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The service is starting or stopping, or has no database connection. Try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getKpiValues: {
        parameters: {
            query: {
                groupId: string;
                includeSubgroups?: boolean;
                kind?: "group" | "segment";
                fromDate?: string;
                toDate?: string;
            };
            header?: never;
            path: {
                kpiId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KpiValues"];
                };
            };
            /** @description A query parameter is missing, unknown, repeated or invalid, or only one end of a date range is given. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The token is missing, unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The token lacks the `data` scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The account has no KPI or group with this ID. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests with this token. Try again after `Retry-After` seconds. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The service is starting or stopping, or has no database connection. Try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getResponseRates: {
        parameters: {
            query: {
                groupId: string;
                includeSubgroups?: boolean;
                kind?: "group" | "segment";
                fromDate?: string;
                toDate?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ResponseRateValues"][];
                };
            };
            /** @description A query parameter is missing, unknown, repeated or invalid, or only one end of a date range is given. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The token is missing, unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The token lacks the `data` scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The account has no group with this ID. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests with this token. Try again after `Retry-After` seconds. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The service is starting or stopping, or has no database connection. Try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getResults: {
        parameters: {
            query: {
                groupId: string;
                includeSubgroups?: boolean;
                kind?: "group" | "segment";
                includeComments?: boolean;
                granularData?: boolean;
                questionIds?: string;
                fromDate?: string;
                toDate?: string;
                language?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ResultsValues"][];
                };
            };
            /** @description A query parameter is missing, unknown, repeated or invalid, or only one end of a date range is given. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The token is missing, unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The token lacks the `data` scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The account has no group with this ID. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests with this token. Try again after `Retry-After` seconds. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The service is starting or stopping, or has no database connection. Try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getAskedQuestions: {
        parameters: {
            query: {
                groupId: string;
                includeSubgroups?: boolean;
                fromDate?: string;
                toDate?: string;
                language?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AskedQuestionsValues"][];
                };
            };
            /** @description A query parameter is missing, unknown, repeated or invalid, or only one end of a date range is given. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The token is missing, unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The token lacks the `data` scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The account has no group with this ID. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests with this token. Try again after `Retry-After` seconds. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The service is starting or stopping, or has no database connection. Try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getFeed: {
        parameters: {
            query?: {
                metric?: string;
                groupId?: string;
                kind?: "group" | "segment";
                fromDate?: string;
                toDate?: string;
                format?: "csv" | "ndjson";
                language?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/csv": string;
                    "application/x-ndjson": string;
                };
            };
            /** @description A query parameter is missing, unknown, repeated or invalid, or only one end of a date range is given. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The token is missing, unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The token lacks the `data` scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The account has no group with this ID. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests with this token. Try again after `Retry-After` seconds. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The service is starting or stopping, or has no database connection. Try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
        };
    };
    postOrganization: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Organization"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Report"];
                };
            };
            /** @description The token is invalid, or the request has errors, each listed in `details`. Nothing was changed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The token lacks the `organization` scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is larger than 64 MB, as sent or uncompressed. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is not application/json, or has an encoding other than gzip. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests with this token. Try again after `Retry-After` seconds. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The service is starting or stopping, has no database connection, or is busy with other requests of the account. Try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
        };
    };
    postOrganizationShort: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Organization"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Report"];
                };
            };
            /** @description The token is invalid, or the request has errors, each listed in `details`. Nothing was changed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The token lacks the `organization` scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is larger than 64 MB, as sent or uncompressed. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is not application/json, or has an encoding other than gzip. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests with this token. Try again after `Retry-After` seconds. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The service is starting or stopping, has no database connection, or is busy with other requests of the account. Try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
        };
    };
    openPush: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Push"];
                };
            };
            /** @description The token is invalid, or the request has errors, each listed in `details`. Nothing was changed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The token lacks the `organization` scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The account already has an open push. Continue or delete it. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests with this token. Try again after `Retry-After` seconds. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The service is starting or stopping, has no database connection, or is busy with other requests of the account. Try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getPush: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                pushId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Push"];
                };
            };
            /** @description The token is invalid, or the request has errors, each listed in `details`. Nothing was changed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The token lacks the `organization` scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The account has no such push. Pushes are deleted 24 hours after the last part or commit, but the result of one that was applied can be read for 400 days. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests with this token. Try again after `Retry-After` seconds. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The service is starting or stopping, has no database connection, or is busy with other requests of the account. Try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
        };
    };
    deletePush: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                pushId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The token is invalid, or the request has errors, each listed in `details`. Nothing was changed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The token lacks the `organization` scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The account has no such push. Pushes are deleted 24 hours after the last part or commit, but the result of one that was applied can be read for 400 days. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description A commit is running. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests with this token. Try again after `Retry-After` seconds. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The service is starting or stopping, has no database connection, or is busy with other requests of the account. Try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
        };
    };
    putPart: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                pushId: string;
                part: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Part"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PartReceipt"];
                };
            };
            /** @description The token is invalid, or the request has errors, each listed in `details`. Nothing was changed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The token lacks the `organization` scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The account has no such push. Pushes are deleted 24 hours after the last part or commit, but the result of one that was applied can be read for 400 days. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description A commit is running, or the push was applied. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The part is larger than 16 MB, as sent or uncompressed, or lists more than 20,000 users and groups, or the parts together exceed the limits of the account. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is not application/json, or has an encoding other than gzip. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests with this token. Try again after `Retry-After` seconds. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The service is starting or stopping, has no database connection, or is busy with other requests of the account. Try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
        };
    };
    commitPush: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                pushId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Commit"];
            };
        };
        responses: {
            /** @description OK */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Push"];
                };
            };
            /** @description The token is invalid, or the request has errors, each listed in `details`. Nothing was changed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The token lacks the `organization` scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The account has no such push. Pushes are deleted 24 hours after the last part or commit, but the result of one that was applied can be read for 400 days. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description Parts are missing, a commit is running, or the push was applied. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The body is not application/json. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests with this token. Try again after `Retry-After` seconds. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The service is starting or stopping, has no database connection, or is busy with other requests of the account. Try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getPushChanges: {
        parameters: {
            query?: {
                after?: string;
            };
            header?: never;
            path: {
                pushId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PushChanges"];
                };
            };
            /** @description The token is invalid, or the request has errors, each listed in `details`. Nothing was changed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The token lacks the `organization` scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The account has no such push. Pushes are deleted 24 hours after the last part or commit, but the result of one that was applied can be read for 400 days. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests with this token. Try again after `Retry-After` seconds. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The service is starting or stopping, has no database connection, or is busy with other requests of the account. Try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
        };
    };
    uploadFile: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "multipart/form-data": components["schemas"]["Upload"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            /** @description With an empty text/plain body: the token is invalid, or the IP address is not allowed to upload. With the error body: no file, more than one file, or a file with an invalid name, type or size (details of type `file validation`). Nothing is stored. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                    "text/plain": string;
                };
            };
            /** @description The token lacks the `files` scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The content type is not multipart/form-data, or the body is compressed. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests with this token. Try again after `Retry-After` seconds. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The service is starting or stopping, or has no database connection. Try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listFiles: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": string[];
                };
            };
            /** @description With an empty text/plain body: the token is invalid, or the IP address is not allowed to upload. With the error body: an unknown query parameter. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                    "text/plain": string;
                };
            };
            /** @description The token lacks the `files` scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests with this token. Try again after `Retry-After` seconds. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The service is starting or stopping, or has no database connection. Try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getFileReport: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FileReport"];
                };
            };
            /** @description With an empty text/plain body: the token is invalid, or the IP address is not allowed to upload. With the error body: an unknown query parameter. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                    "text/plain": string;
                };
            };
            /** @description The token lacks the `files` scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The account has no file with this name. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests with this token. Try again after `Retry-After` seconds. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The service is starting or stopping, or has no database connection. Try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getAudit: {
        parameters: {
            query?: {
                after?: string;
                hash?: string;
                limit?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": string;
                };
            };
            /** @description A query parameter is unknown, repeated or invalid. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The token is missing, unknown, expired or revoked. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The token lacks the `audit` scope. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The log does not contain the entry at `after` with this hash: entries were changed or removed, or an older backup was restored. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many requests with this token. Try again after `Retry-After` seconds. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
            /** @description The service is starting or stopping, or has no database connection. Try again after `Retry-After` seconds. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Problem"];
                };
            };
        };
    };
}
