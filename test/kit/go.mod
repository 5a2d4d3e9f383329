module barnabas/test/kit

go 1.26
