-- target: id* x updated_at^ _hoodie_is_deleted
-- model: false
-- expect: "inexact NOT_DETERMINISTIC:aes_encrypt@9:31"
-- why: "Each time it begins with another vector of chance."
-- pairs:
-- - {from: "'0000111122223333')", to: "'0000111122223333', 'ECB')", expect: "exact", why: "A mode that takes none."}
-- - {from: "'0000111122223333')", to: "'0000111122223333', 'CBC', 'DEFAULT', c)", expect: "exact", why: "It is given."}
-- - {from: "aes_encrypt(a, '0000111122223333')", to: "sha2(a, 256)", expect: "exact", why: "A digest is the same each time."}
SELECT id, base64(aes_encrypt(a, '0000111122223333')) AS x, updated_at, _hoodie_is_deleted
FROM <SRC>
