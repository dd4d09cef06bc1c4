-- The scope has one name.
update api_keys set scopes = array_replace(scopes, 'messages:send', 'flows:send') where 'messages:send' = any (scopes);
