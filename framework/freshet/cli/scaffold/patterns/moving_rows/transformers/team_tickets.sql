-- Nothing has to be done about the partition that a ticket leaves: the index finds the row there, and the write takes it out.
SELECT ticket_id,
       cast(priority AS int) AS priority,
       opened_at,
       updated_at,
       _hoodie_is_deleted,
       team
FROM <SRC>
